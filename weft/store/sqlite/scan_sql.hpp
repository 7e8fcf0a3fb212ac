// The statement that a part of a scan is.
//
// Problem: a statement for all rows behind a place would look at all that are equal to it in the
// index's columns, again for each part of the scan, and NULL is neither greater nor less. Contract:
// steps_behind() gives ranges, in the order of the scan, each of which has one place in the index
// to begin at. All values are parameters. A row has the columns wanted, then its place (the columns
// of the order and the table's tie breakers), and by steps a last one: whether it is found at all.
//
//   for (const scan_step& step : steps_behind(request, place)) {
//     scan_sql sql{request, place, {.step = step}};  // place: of the row to go on after, or empty
//     statement select = connection.prepare(sql.text());
//     int code = sql.bind(select.get(), rows_max);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sqlite3.h>

#include <weft/store/scan_text.hpp>

namespace weft::store::sqlite {

/// A function without arguments that by_steps asks of each row that is not found: whether it is to
/// be told of all the same, so that somebody sees how far the scan is.
inline constexpr const char* turn_is_over_function = "weft_turn_is_over";

/// How rows behind a place compare with it in one term of the order; before that they are equal.
enum class behind : std::uint8_t {
  nothing,   // there is no place: all rows
  value,     // the term is greater, or less where the scan goes backwards
  null,      // the term is NULL, which comes last backwards
  not_null,  // the place has NULL, which comes first
};
struct scan_step {
  behind how = behind::nothing;
  std::size_t equal_terms = 0;
};
[[nodiscard]] std::vector<scan_step> steps_behind(const scan_request& request,
                                                  std::span<const value> place);

struct scan_part {
  scan_step step{};
  /// In the order of the index, whatever else SQLite thinks best.
  bool by_steps = false;
  /// How many bytes each of the columns wanted has, instead of the columns.
  bool sizes = false;
};

class scan_sql final : public scan_text {
 public:
  /// `request` and `place` must stay.
  scan_sql(const scan_request& request, std::span<const value> place, scan_part part);

  /// A result code of SQLite's.
  [[nodiscard]] int bind(sqlite3_stmt* to, std::size_t rows_max) const noexcept;

 private:
  struct parameter {
    value with;
    const column* of;
  };

  void add_columns(bool sizes);
  void add_conditions(std::span<const value> place, scan_step step);
  void add_row(std::size_t columns);
  void add_values(std::span<const value> of);
  void add_step(std::span<const value> place, scan_step step);
  void add_term(std::size_t at);
  void add_stored(const value& with);
  void add_name(column_position of) override;
  void add_parameter(const value& with, column_position of) override;
  void add_bound(const key_bound& bound, bool is_lower) override;

  std::span<const std::string> tie_breakers_;
  bool tells_found_;
  std::vector<parameter> parameters_;
};

}  // namespace weft::store::sqlite
