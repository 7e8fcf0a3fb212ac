// The statement that a part of a scan is, as MySQL's servers take it.
//
// Contract: all values are parameters. A row has the columns wanted, then those of the order. Goes
// along the index that the request names, so that each part begins where the last one ended. The
// place of an ENUM or a SET in the order is the number that it is kept as.
//
//   scan_sql sql{request, place, rows_max};  // place: of the row to go on after; may be empty
//   auto select = co_await server.prepared(sql.text());
//   co_await server.execute(**select, sql.parameters());
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/scan.hpp>

namespace weft::store::mysql {

class scan_sql {
 public:
  scan_sql(const scan_request& request, std::span<const value> place, std::size_t rows_max);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::span<const value> parameters() const noexcept { return parameters_; }

 private:
  void add_columns();
  void add_filter(const filter& condition);
  void add_comparison(column_position of, std::string_view how, const value& with);
  void add_range(const key_range& range);
  void add_bound(const key_bound& bound, bool is_lower);
  void add_place(std::span<const value> place);
  void add_step_after(std::size_t at, const value& last);
  void add_order();
  void add_name(column_position of);
  void add_parameter(const value& with, column_position of);
  /// What a place in the order has of the column.
  void add_rank(column_position of);
  void add_place_comparison(column_position of, std::string_view how, const value& with);

  const scan_request& request_;
  std::vector<column_position> order_;
  std::vector<value> parameters_;
  std::string text_;
};

}  // namespace weft::store::mysql
