#include <weft/store/mysql/scan_sql.hpp>

#include <array>

#include <weft/store/mysql/sql_text.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::array<std::string_view, 12> signs{
    "=", "<>", "<", "<=", ">", ">=", " IS NULL", " IS NOT NULL", " AND ", " OR ", " AND ", " OR "};

std::string_view sign_of(filter_kind kind) noexcept {
  return signs[static_cast<std::size_t>(kind)];
}

}  // namespace

scan_sql::scan_sql(const scan_request& request, std::span<const value> place, std::size_t rows_max)
    : request_{request}, order_{order_of(request)} {
  add_columns();
  text_ += " WHERE 1";
  if (!request.ranges.empty()) {
    text_ += " AND (0";
    for (const key_range& each : request.ranges) add_range(each);
    text_ += ')';
  }
  if (!place.empty()) add_place(place);
  if (request.where != nullptr) {
    text_ += " AND ";
    add_filter(*request.where);
  }
  add_order();
  parameters_.push_back(value::natural(rows_max));
}

void scan_sql::add_name(column_position of) {
  append_name(request_.from->columns()[of].name, text_);
}

void scan_sql::add_parameter(const value& with, column_position of) {
  parameters_.push_back(with);
  append_parameter(request_.from->columns()[of], text_);
}

void scan_sql::add_columns() {
  text_ = "SELECT ";
  for (const column_position at : request_.columns) {
    add_name(at);
    text_ += ',';
  }
  for (const column_position at : order_) {
    add_rank(at);
    text_ += ',';
  }
  text_.pop_back();
  text_ += " FROM ";
  append_table(*request_.from, text_);
  text_ += " FORCE INDEX(";
  append_name(request_.index ? request_.from->indexes()[*request_.index].name : "PRIMARY", text_);
  text_ += ')';
}

void scan_sql::add_filter(const filter& condition) {
  const bool is_negated =
      condition.kind == filter_kind::not_both || condition.kind == filter_kind::neither;
  text_ += is_negated ? "NOT(" : "(";
  if (condition.kind >= filter_kind::both) {
    add_filter(*condition.left);
    text_ += sign_of(condition.kind);
    add_filter(*condition.right);
  } else {
    add_name(condition.column);
    text_ += sign_of(condition.kind);
    if (condition.kind < filter_kind::is_null) add_parameter(condition.with, condition.column);
  }
  text_ += ')';
}

void scan_sql::add_comparison(column_position of, std::string_view how, const value& with) {
  add_name(of);
  text_ += how;
  add_parameter(with, of);
}

void scan_sql::add_rank(column_position of) {
  add_name(of);
  if (request_.from->columns()[of].is_enumerated) text_ += "+0";
}

void scan_sql::add_place_comparison(column_position of, std::string_view how, const value& with) {
  add_rank(of);
  text_ += how;
  add_parameter(with, of);
}

void scan_sql::add_range(const key_range& range) {
  text_ += " OR (1";
  add_bound(range.lower, true);
  add_bound(range.upper, false);
  text_ += ')';
}

/// ` AND (a>? OR a=? AND (b>=?))`: what (a,b)>=(?,?) means, in words that the index is used for.
void scan_sql::add_bound(const key_bound& bound, bool is_lower) {
  if (bound.values.empty()) return;
  const std::string_view beyond = is_lower ? ">" : "<";
  const std::string_view at_end = bound.is_inclusive ? (is_lower ? ">=" : "<=") : beyond;
  text_ += " AND ";
  const std::size_t last = bound.values.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    text_ += '(';
    add_comparison(order_[i], beyond, bound.values[i]);
    text_ += " OR ";
    add_comparison(order_[i], "=", bound.values[i]);
    text_ += " AND ";
  }
  add_comparison(order_[last], at_end, bound.values[last]);
  text_.append(last, ')');
}

/// Behind the row at `place`: equal in the first columns and behind it in the next, for each of
/// them. NULL comes before all values.
void scan_sql::add_place(std::span<const value> place) {
  text_ += " AND (0";
  for (std::size_t i = 0; i < place.size(); ++i) {
    text_ += " OR (1";
    for (std::size_t k = 0; k < i; ++k) {
      text_ += " AND ";
      add_place_comparison(order_[k], "<=>", place[k]);
    }
    text_ += " AND ";
    add_step_after(i, place[i]);
    text_ += ')';
  }
  text_ += ')';
}

void scan_sql::add_step_after(std::size_t at, const value& last) {
  if (last.is_null()) {
    if (request_.is_descending) {
      text_ += '0';
    } else {
      add_name(order_[at]);
      text_ += " IS NOT NULL";
    }
    return;
  }
  if (!request_.is_descending) {
    add_place_comparison(order_[at], ">", last);
    return;
  }
  text_ += '(';
  add_place_comparison(order_[at], "<", last);
  text_ += " OR ";
  add_name(order_[at]);
  text_ += " IS NULL)";
}

void scan_sql::add_order() {
  text_ += " ORDER BY ";
  for (const column_position at : order_) {
    if (!text_.ends_with(' ')) text_ += ',';
    add_name(at);
    if (request_.is_descending) text_ += " DESC";
  }
  text_ += " LIMIT ?";
}

}  // namespace weft::store::mysql
