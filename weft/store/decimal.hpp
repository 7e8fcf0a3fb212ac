// Decimal numbers in their one canonical form: what DECIMAL columns hold.
//
// Contract: "-12.50" for DECIMAL(10,2): a digit or more before the point, exactly `scale` behind
// it, no point for scale 0, no other zero in front, no "-0.00". Nothing is rounded: a number that
// does not fit is refused, though zeros at its end may go.
//
//   decimal_text room;
//   if (const auto text = canonical_decimal("1.5e1", {.precision = 10, .scale = 2}, room)) ...
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::store {

struct decimal_shape {
  /// Digits in all: 0 takes any number of up to 65, and `scale` is then no bound.
  std::uint8_t precision = 0;
  std::uint8_t scale = 0;
  bool is_unsigned = false;
};

/// Digits that a DECIMAL has at most.
inline constexpr unsigned decimal_digits_max = 65;
/// Sign, zero and point come on top, and there may be zeros in front or at the end.
using decimal_text = std::array<char, 2 * decimal_digits_max + 6>;

/// `number` is a sign or none, digits with a point or without, and perhaps an exponent. A view of
/// `room`; none: it is no such number, or does not fit.
[[nodiscard]] std::optional<std::string_view> canonical_decimal(std::string_view number,
                                                                decimal_shape shape,
                                                                decimal_text& room) noexcept;

}  // namespace weft::store
