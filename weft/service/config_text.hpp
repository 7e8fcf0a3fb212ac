// Numbers, sizes and times as people write them in options. Internal to config.
//
// Contract: all of the text must be the value; no spaces, no locale. Sizes have binary units (KiB,
// MiB, GiB, TiB), times ns, us, ms, s, min, h or d, and no fractions: "1500ms", not "1.5s".
//
//   std::int64_t ns = 0;
//   parse_time("50us", ns);  // none: ns is 50'000
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::detail {

enum class text_fault : std::uint8_t { none, malformed, out_of_range };

[[nodiscard]] text_fault parse_integer(std::string_view text, std::int64_t& value) noexcept;
/// A size may have a unit: "64KiB".
[[nodiscard]] text_fault parse_size(std::string_view text, std::uint64_t& value) noexcept;
[[nodiscard]] text_fault parse_real(std::string_view text, double& value) noexcept;
/// In nanoseconds. Must have a unit, and is not negative.
[[nodiscard]] text_fault parse_time(std::string_view text, std::int64_t& value) noexcept;

/// With the largest unit that needs no fraction: "10s", "1500ms".
[[nodiscard]] std::string time_text(std::int64_t value_ns);
/// As TOML has it: always with a point, an exponent, or "inf" and "nan".
[[nodiscard]] std::string real_text(double value);
/// real_text(), of a number that is written already.
[[nodiscard]] std::string as_real(std::string number);
/// As a TOML string on one line, in double quotes, without a character that could control a
/// terminal; what is no UTF-8 as U+FFFD.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace weft::detail
