#include <weft/store/sqlite/scan_sql.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <weft/store/sqlite/row_values.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

/// Whether a column of the order may be NULL: keys may where the table has tie breakers.
bool may_be_null(const table& of, column_position at) noexcept {
  if (of.place_in_key(at)) return !of.definition().tie_breakers.empty();
  return of.columns()[at].is_nullable;
}

}  // namespace

std::vector<scan_step> steps_behind(const scan_request& request, std::span<const value> place) {
  if (place.empty()) return {{}};
  const std::vector<column_position> order = order_of(request);
  std::vector<scan_step> steps;
  for (std::size_t at = place.size(); at-- > 0;) {
    const bool is_null = place[at].is_null();
    if (!request.is_descending) {
      steps.push_back({is_null ? behind::not_null : behind::value, at});
    } else if (!is_null) {
      steps.push_back({behind::value, at});
      if (at < order.size() && may_be_null(*request.from, order[at]))
        steps.push_back({behind::null, at});
    }
  }
  return steps;
}

scan_sql::scan_sql(const scan_request& request, std::span<const value> place, scan_part part)
    : scan_text{request, " IS "},
      tie_breakers_{request.from->definition().tie_breakers},
      tells_found_{part.by_steps && request.where != nullptr} {
  add_columns(part.sizes);
  add_conditions(place, part.step);
  add_order();
  for (const std::string& each : tie_breakers_)
    text_.append(",").append(each).append(request.is_descending ? " DESC" : "");
  text_.append(" LIMIT ?").append(std::to_string(parameters_.size() + 1));
}

void scan_sql::add_name(column_position of) {
  append_name(request_.from->columns()[of].name, text_);
}

void scan_sql::add_parameter(const value& with, column_position of) {
  parameters_.push_back({with, &request_.from->columns()[of]});
  text_.append("?").append(std::to_string(parameters_.size()));
}

/// Of a place.
void scan_sql::add_stored(const value& with) {
  parameters_.push_back({with, &as_stored});
  text_.append("?").append(std::to_string(parameters_.size()));
}

/// Of the order.
void scan_sql::add_term(std::size_t at) {
  if (at < order_.size())
    add_name(order_[at]);
  else
    text_ += tie_breakers_[at - order_.size()];
}

void scan_sql::add_columns(bool sizes) {
  text_ = "SELECT ";
  for (const column_position at : request_.columns) {
    sizes ? append_size_of(request_.from->columns()[at].name, text_) : add_name(at);
    text_ += ',';
  }
  for (std::size_t at = 0; at < order_.size() + tie_breakers_.size(); ++at) {
    add_term(at);
    text_ += ',';
  }
  if (tells_found_)
    add_filter(*request_.where);
  else
    text_.pop_back();
  text_ += " FROM ";
  append_name(request_.from->name(), text_);
}

void scan_sql::add_conditions(std::span<const value> place, scan_step step) {
  text_ += " WHERE 1";
  add_ranges();
  if (step.how != behind::nothing) add_step(place, step);
  // Last, since SQLite looks at them in this order: no row before the place is asked about.
  if (request_.where != nullptr) {
    text_ += tells_found_ ? " AND (" : " AND ";
    add_filter(*request_.where);
    if (tells_found_) text_.append(" OR ").append(turn_is_over_function).append("())");
  }
}

/// ` AND ("a","b")>=(?1,?2)`
void scan_sql::add_bound(const key_bound& bound, bool is_lower) {
  text_ += " AND ";
  add_row(bound.values.size());
  text_ += is_lower ? '>' : '<';
  if (bound.is_inclusive) text_ += '=';
  add_values(bound.values);
}

/// `("a","b")`
void scan_sql::add_row(std::size_t columns) {
  char before = '(';
  for (std::size_t at = 0; at < columns; ++at) {
    text_ += std::exchange(before, ',');
    add_name(order_[at]);
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

/// ` AND "a" IS NULL AND "b"=?1 AND rowid>?2`
void scan_sql::add_step(std::span<const value> place, scan_step step) {
  for (std::size_t at = 0; at < step.equal_terms; ++at) {
    text_ += " AND ";
    add_term(at);
    if (place[at].is_null()) {
      text_ += " IS NULL";
    } else {
      text_ += '=';
      add_stored(place[at]);
    }
  }
  text_ += " AND ";
  add_term(step.equal_terms);
  if (step.how == behind::value) {
    text_ += request_.is_descending ? '<' : '>';
    add_stored(place[step.equal_terms]);
  } else {
    text_ += step.how == behind::null ? " IS NULL" : " IS NOT NULL";
  }
}

int scan_sql::bind(sqlite3_stmt* to, std::size_t rows_max) const noexcept {
  int at = 1;
  for (const parameter& each : parameters_)
    if (const int code = bind_value(to, at++, each.with, *each.of); code != SQLITE_OK) return code;
  return sqlite3_bind_int64(to, at, static_cast<std::int64_t>(rows_max));
}

}  // namespace weft::store::sqlite
