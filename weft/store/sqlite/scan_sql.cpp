#include <weft/store/sqlite/scan_sql.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <weft/store/sqlite/row_values.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::array<std::string_view, 12> operators{
    "=", "<>", "<", "<=", ">", ">=", " IS NULL", " IS NOT NULL", " AND ", " OR ", " AND ", " OR "};

std::string_view operator_of(filter_kind kind) noexcept {
  return operators[static_cast<std::size_t>(kind)];
}

}  // namespace

scan_sql::scan_sql(const scan_request& request, std::span<const value> place, scan_part part)
    : request_{request},
      order_{order_of(request)},
      tells_found_{part.by_steps && request.where != nullptr},
      is_nulls_{part.is_nulls},
      has_nulls_after_{request.is_descending && !is_nulls_ && !place.empty() &&
                       !place[0].is_null()} {
  add_columns();
  add_conditions(place);
  add_order();
}

void scan_sql::add_name(column_position of) {
  append_name(request_.from->columns()[of].name, text_);
}

void scan_sql::add_parameter(const value& with, column_position of) {
  parameters_.push_back({with, of});
  text_.append("?").append(std::to_string(parameters_.size()));
}

void scan_sql::add_columns() {
  text_ = "SELECT ";
  for (const std::span<const column_position> part :
       {request_.columns, std::span<const column_position>{order_}})
    for (const column_position at : part) {
      if (!text_.ends_with(' ')) text_ += ',';
      add_name(at);
    }
  if (tells_found_) {
    text_ += ',';
    add_filter(*request_.where);
  }
  text_ += " FROM ";
  append_name(request_.from->name(), text_);
}

void scan_sql::add_conditions(std::span<const value> place) {
  text_ += " WHERE 1";
  if (!request_.ranges.empty()) {
    text_ += " AND (0";
    for (const key_range& each : request_.ranges) add_range(each);
    text_ += ')';
  }
  if (is_nulls_) {
    text_ += " AND ";
    add_name(order_[0]);
    text_ += " IS NULL";
  } else if (!place.empty()) {
    add_place(place);
  }
  // Last, since SQLite looks at them in this order: no row before the place is asked about.
  if (request_.where != nullptr) {
    text_ += tells_found_ ? " AND (" : " AND ";
    add_filter(*request_.where);
    if (tells_found_) text_.append(" OR ").append(turn_is_over_function).append("())");
  }
}

void scan_sql::add_filter(const filter& condition) {
  const bool is_negated =
      condition.kind == filter_kind::not_both || condition.kind == filter_kind::neither;
  text_ += is_negated ? "NOT(" : "(";
  if (condition.kind >= filter_kind::both) {
    add_filter(*condition.left);
    text_ += operator_of(condition.kind);
    add_filter(*condition.right);
  } else {
    add_name(condition.column);
    text_ += operator_of(condition.kind);
    if (condition.kind < filter_kind::is_null) add_parameter(condition.with, condition.column);
  }
  text_ += ')';
}

void scan_sql::add_comparison(column_position of, const char* how, const value& with) {
  add_name(of);
  text_ += how;
  add_parameter(with, of);
}

void scan_sql::add_range(const key_range& range) {
  text_ += " OR (1";
  add_bound(range.lower, range.lower.is_inclusive ? ">=" : ">");
  add_bound(range.upper, range.upper.is_inclusive ? "<=" : "<");
  text_ += ')';
}

/// ` AND ("a","b")>=(?1,?2)`
void scan_sql::add_bound(const key_bound& bound, const char* how) {
  if (bound.values.empty()) return;
  text_ += " AND ";
  add_row(bound.values.size());
  text_ += how;
  add_values(bound.values);
}

/// `("a","b")`
void scan_sql::add_row(std::size_t columns) {
  char before = '(';
  for (std::size_t i = 0; i < columns; ++i) {
    text_ += std::exchange(before, ',');
    add_name(order_[i]);
  }
  text_ += ')';
}

/// `(?1,?2)`
void scan_sql::add_values(std::span<const value> of) {
  char before = '(';
  for (std::size_t i = 0; i < of.size(); ++i) {
    text_ += std::exchange(before, ',');
    add_parameter(of[i], order_[i]);
  }
  text_ += ')';
}

/// Behind the row at `place`: equal in the first columns and behind it in the next, for each of
/// them. NULL comes before all values.
void scan_sql::add_place(std::span<const value> place) {
  // What an index has one place for. A NULL behind it is in a column after one that is greater.
  if (!request_.is_descending && std::ranges::none_of(place, &value::is_null)) {
    text_ += " AND ";
    add_row(place.size());
    text_ += '>';
    add_values(place);
    return;
  }
  // What the other conditions imply, for the index.
  if (request_.is_descending || !place[0].is_null()) {
    text_ += " AND ";
    const bool is_null = place[0].is_null();
    add_comparison(order_[0], is_null ? " IS " : request_.is_descending ? "<=" : ">=", place[0]);
  }
  text_ += " AND (0";
  for (std::size_t i = 0; i < place.size(); ++i) {
    text_ += " OR (1";
    for (std::size_t k = 0; k < i; ++k) {
      text_ += " AND ";
      add_comparison(order_[k], " IS ", place[k]);
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
    add_comparison(order_[at], ">", last);
    return;
  }
  text_ += '(';
  add_comparison(order_[at], "<", last);
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
  text_ += std::to_string(parameters_.size() + 1);
}

int scan_sql::bind(sqlite3_stmt* to, std::size_t rows_max) const noexcept {
  int at = 1;
  for (const parameter& each : parameters_) {
    const column& of = request_.from->columns()[each.of];
    if (const int code = bind_value(to, at++, each.with, of); code != SQLITE_OK) return code;
  }
  return sqlite3_bind_int64(to, at, static_cast<std::int64_t>(rows_max));
}

}  // namespace weft::store::sqlite
