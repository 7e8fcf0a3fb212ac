// The one statement that a scan is.
//
// Contract: all values are parameters. A row has the columns wanted, and then those of the order.
//
//   scan_sql sql{request, place};  // place: of the row to go on after; may be empty
//   statement select = connection.prepare(sql.text());
//   int code = sql.bind(select.get(), rows_max);
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <sqlite3.h>

#include <weft/store/scan.hpp>

namespace weft::store::sqlite {

class scan_sql {
 public:
  /// `request` and `place` must stay.
  scan_sql(const scan_request& request, std::span<const value> place);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The columns after those wanted.
  [[nodiscard]] std::span<const column_position> order() const noexcept { return order_; }
  /// A result code of SQLite's.
  [[nodiscard]] int bind(sqlite3_stmt* to, std::size_t rows_max) const noexcept;

 private:
  struct parameter {
    value with;
    column_position of;
  };

  void add_columns();
  void add_conditions(std::span<const value> place);
  void add_filter(const filter& condition);
  void add_comparison(column_position of, const char* how, const value& with);
  void add_range(const key_range& range);
  void add_bound(const key_bound& bound, const char* how);
  void add_place(std::span<const value> place);
  void add_step_after(std::size_t at, const value& last);
  void add_order();
  void add_name(column_position of);
  void add_parameter(const value& with, column_position of);

  const scan_request& request_;
  std::vector<column_position> order_;
  std::vector<parameter> parameters_;
  std::string text_;
};

}  // namespace weft::store::sqlite
