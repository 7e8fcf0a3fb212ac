#include <weft/loop/idle_policy.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

#include <weft/base/format.hpp>

namespace weft {
namespace {

/// Who wants to poll for longer wants to poll always.
constexpr duration spin_max = std::chrono::seconds{1};

std::optional<std::int64_t> nanoseconds_in(std::string_view unit) noexcept {
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  return std::nullopt;
}

std::unexpected<std::string> refused(std::string_view text, std::string_view why) {
  return std::unexpected{
      weft::format("'{}' {}; allowed: sleep, spin, spin=TIME (spin=50us, say)", text, why)};
}

}  // namespace

std::expected<idle_policy, std::string> parse_idle(std::string_view text) {
  constexpr std::string_view timed = "spin=";
  if (text == "sleep") return idle_policy::sleep();
  if (text == "spin") return idle_policy::spin();
  if (!text.starts_with(timed)) return refused(text, "is no way to be idle");

  const std::string_view time = text.substr(timed.size());
  const char* const end = time.data() + time.size();
  std::int64_t count = 0;
  const auto [stopped, code] = std::from_chars(time.data(), end, count);
  if (code == std::errc::invalid_argument || time.starts_with('-'))
    return refused(text, "has no whole number after '='");
  const std::string_view unit{stopped, end};
  if (unit.empty()) return refused(text, "lacks a unit: ns, us or ms");
  const auto scale = nanoseconds_in(unit);
  if (!scale) return refused(text, weft::format("has the unit '{}', not ns, us or ms", unit));
  if (code == std::errc::result_out_of_range || count > spin_max.count() / *scale)
    return refused(text, "is more than a second");
  if (count == 0) return refused(text, "does not spin at all");
  return idle_policy{duration{count * *scale}};
}

}  // namespace weft
