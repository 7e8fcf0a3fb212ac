#include <weft/store/mysql/scan_sql.hpp>

#include <string_view>

#include <weft/store/mysql/sql_text.hpp>

namespace weft::store::mysql {

scan_sql::scan_sql(const scan_request& request, std::span<const value> place, std::size_t rows_max)
    : scan_text{request, "<=>"} {
  add_columns();
  text_ += " WHERE 1";
  add_ranges();
  if (!place.empty()) add_behind(place);
  if (request.where != nullptr) {
    text_ += " AND ";
    add_filter(*request.where);
  }
  add_order();
  text_ += " LIMIT ?";
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

void scan_sql::add_rank(column_position of) {
  add_name(of);
  if (request_.from->columns()[of].is_enumerated) text_ += "+0";
}

/// ` AND (a>? OR a=? AND (b>=?))`: what (a,b)>=(?,?) means, in words that the index is used for.
void scan_sql::add_bound(const key_bound& bound, bool is_lower) {
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

}  // namespace weft::store::mysql
