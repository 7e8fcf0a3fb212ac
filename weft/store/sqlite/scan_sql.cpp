#include <weft/store/sqlite/scan_sql.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <weft/store/sqlite/row_values.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {

scan_sql::scan_sql(const scan_request& request, std::span<const value> place, scan_part part)
    : scan_text{request, " IS "},
      tells_found_{part.by_steps && request.where != nullptr},
      is_nulls_{part.is_nulls},
      has_nulls_after_{request.is_descending && !is_nulls_ && !place.empty() &&
                       !place[0].is_null()} {
  add_columns();
  add_conditions(place);
  add_order();
  text_.append(" LIMIT ?").append(std::to_string(parameters_.size() + 1));
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
  add_ranges();
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

/// Behind the row at `place`.
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
  add_behind(place);
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
