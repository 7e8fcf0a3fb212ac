// What the statements of scans have in common, whoever runs them.
//
// Contract: internal to engines. One derives from it, says how it spells names, parameters and the
// ends of ranges, and puts its statement together of what is here. NULL comes before all values. A
// request, and the values that are given, stay.
//
//   text_ += " WHERE 1";
//   add_ranges();
//   if (!place.empty()) add_behind(place);
//   add_order();
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/scan.hpp>

namespace weft::store {

class scan_text {
 public:
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The columns after those wanted.
  [[nodiscard]] std::span<const column_position> order() const noexcept { return order_; }

 protected:
  /// `same`: how a comparison is spelled by which NULL is equal to itself. Static storage.
  scan_text(const scan_request& request, std::string_view same)
      : request_{request}, order_{order_of(request)}, same_{same} {}
  ~scan_text() = default;

  virtual void add_name(column_position of) = 0;
  virtual void add_parameter(const value& with, column_position of) = 0;
  /// What a place in the order has of a column.
  virtual void add_rank(column_position of) { add_name(of); }
  /// ` AND ...`, of an end that there is.
  virtual void add_bound(const key_bound& bound, bool is_lower) = 0;

  void add_comparison(column_position of, std::string_view how, const value& with);
  /// ` AND (...)`, if there are ranges.
  void add_ranges();
  void add_filter(const filter& condition);
  /// ` AND (...)`: behind the row at `place`.
  void add_behind(std::span<const value> place);
  /// ` ORDER BY ...`
  void add_order();

  const scan_request& request_;
  std::vector<column_position> order_;
  std::string text_;

 private:
  enum class conjunction : std::uint8_t { all, any };
  void add_condition(const filter& condition, bool is_negated, conjunction within);
  /// Of one column.
  void add_test(const filter& condition, bool is_negated);
  void add_step_behind(std::size_t at, const value& last);
  void add_rank_comparison(column_position of, std::string_view how, const value& with);

  std::string_view same_;
};

}  // namespace weft::store
