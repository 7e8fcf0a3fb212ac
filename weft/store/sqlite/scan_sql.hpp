// The statement that a part of a scan is.
//
// Contract: all values are parameters. A row has the columns wanted, then those of the order, and
// by steps a last one: whether it is found at all. Backwards NULL comes last, which is a statement
// of its own where the scan goes on after a row, so that either has one end of the index to begin
// at: has_nulls_after().
//
//   scan_sql sql{request, place, {}};  // place: of the row to go on after; may be empty
//   statement select = connection.prepare(sql.text());
//   int code = sql.bind(select.get(), rows_max);
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <sqlite3.h>

#include <weft/store/scan_text.hpp>

namespace weft::store::sqlite {

/// A function without arguments that by_steps asks of each row that is not found: whether it is to
/// be told of all the same, so that somebody sees how far the scan is.
inline constexpr const char* turn_is_over_function = "weft_turn_is_over";

struct scan_part {
  /// In the order of the index, whatever else SQLite thinks best.
  bool by_steps = false;
  /// Those rows alone whose first column of the order is NULL, all of which come after `place`.
  bool is_nulls = false;
};

class scan_sql final : public scan_text {
 public:
  /// `request` and `place` must stay.
  scan_sql(const scan_request& request, std::span<const value> place, scan_part part);

  /// A result code of SQLite's.
  [[nodiscard]] int bind(sqlite3_stmt* to, std::size_t rows_max) const noexcept;
  /// Whether the rows after these are those of is_nulls.
  [[nodiscard]] bool has_nulls_after() const noexcept { return has_nulls_after_; }
  /// Whether a row says in its last column if it is found.
  [[nodiscard]] bool tells_found() const noexcept { return tells_found_; }

 private:
  struct parameter {
    value with;
    column_position of;
  };

  void add_columns();
  void add_conditions(std::span<const value> place);
  void add_row(std::size_t columns);
  void add_values(std::span<const value> of);
  void add_place(std::span<const value> place);
  void add_name(column_position of) override;
  void add_parameter(const value& with, column_position of) override;
  void add_bound(const key_bound& bound, bool is_lower) override;

  bool tells_found_;
  bool is_nulls_;
  bool has_nulls_after_;
  std::vector<parameter> parameters_;
};

}  // namespace weft::store::sqlite
