#include <weft/service/config_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <weft/base/format.hpp>
#include <weft/base/log_escape.hpp>

namespace weft::detail {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::array size_units{
    unit{"", 1}, unit{"KiB", std::uint64_t{1} << 10}, unit{"MiB", std::uint64_t{1} << 20},
    unit{"GiB", std::uint64_t{1} << 30}, unit{"TiB", std::uint64_t{1} << 40}};

constexpr std::array time_units{unit{"ns", 1},
                                unit{"us", 1'000},
                                unit{"ms", 1'000'000},
                                unit{"s", 1'000'000'000},
                                unit{"min", 60'000'000'000},
                                unit{"h", 3'600'000'000'000},
                                unit{"d", 86'400'000'000'000}};

template <class T>
text_fault parse_whole(std::string_view text, T& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc::result_out_of_range && stopped == end) return text_fault::out_of_range;
  return code == std::errc{} && stopped == end ? text_fault::none : text_fault::malformed;
}

template <std::size_t N>
text_fault parse_with_unit(std::string_view text, const std::array<unit, N>& units,
                           std::uint64_t most, std::uint64_t& value) noexcept {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto* const found = std::ranges::find(units, text.substr(digits), &unit::name);
  if (found == units.end()) return text_fault::malformed;
  std::uint64_t count = 0;
  if (const auto fault = parse_whole(text.substr(0, digits), count); fault != text_fault::none)
    return fault;
  if (count > most / found->size) return text_fault::out_of_range;
  value = count * found->size;
  return text_fault::none;
}

}  // namespace

text_fault parse_integer(std::string_view text, std::int64_t& value) noexcept {
  return parse_whole(text, value);
}

text_fault parse_size(std::string_view text, std::uint64_t& value) noexcept {
  return parse_with_unit(text, size_units, std::numeric_limits<std::uint64_t>::max(), value);
}

text_fault parse_time(std::string_view text, std::int64_t& value) noexcept {
  std::uint64_t ns = 0;
  const auto fault =
      parse_with_unit(text, time_units, std::numeric_limits<std::int64_t>::max(), ns);
  if (fault == text_fault::none) value = static_cast<std::int64_t>(ns);
  return fault;
}

// libc++ 19 has no from_chars for double. strtod takes more than wanted: spaces, hexadecimal, and
// what the locale says, which a program of weft leaves at "C".
text_fault parse_real(std::string_view text, double& value) noexcept {
  constexpr std::size_t longest = 64;
  if (text.empty() || text.size() > longest ||
      text.find_first_not_of("+-.0123456789eEinfa") != std::string_view::npos)
    return text_fault::malformed;
  std::array<char, longest + 1> copy{};
  std::ranges::copy(text, copy.begin());
  char* stopped = nullptr;
  const double parsed = std::strtod(copy.data(), &stopped);
  if (stopped != copy.data() + text.size()) return text_fault::malformed;
  if (std::isinf(parsed) && !text.contains("inf")) return text_fault::out_of_range;
  value = parsed;
  return text_fault::none;
}

std::string time_text(std::int64_t value_ns) {
  if (value_ns == 0) return "0s";
  for (std::size_t i = time_units.size(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(time_units[i].size);
    if (value_ns % size == 0) return weft::format("{}{}", value_ns / size, time_units[i].name);
  }
  return {};
}

std::string as_real(std::string number) {
  if (number.find_first_of(".en") == std::string::npos) number += ".0";
  return number;
}

std::string real_text(double value) { return as_real(weft::format("{}", value)); }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  log::append_escaped(out, text, log::escaping::json);  // whose escapes are TOML's, too
  return out + "\"";
}

}  // namespace weft::detail
