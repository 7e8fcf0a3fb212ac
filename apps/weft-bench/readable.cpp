#include "readable.hpp"

#include <cmath>

#include <weft/base/format.hpp>

namespace weft::bench {

double rate_of(const load_result& result) {
  return result.seconds > 0 ? static_cast<double>(result.counts.requests) / result.seconds : 0;
}

double cpu_seconds(const load_result& result) {
  return result.cpu_user_seconds + result.cpu_system_seconds;
}

double cpu_microseconds_per_request(const load_result& result) {
  const auto requests = static_cast<double>(result.counts.requests);
  return requests > 0 ? cpu_seconds(result) * 1e6 / requests : 0;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string grouped(double number) {
  return grouped(static_cast<std::uint64_t>(std::llround(number)));
}

std::string readable_time(double nanoseconds) {
  if (nanoseconds < 1e6) return weft::format("{:.1f} µs", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return weft::format("{:.2f} ms", nanoseconds / 1e6);
  return weft::format("{:.2f} s", nanoseconds / 1e9);
}

std::string readable_time(std::uint64_t nanoseconds) {
  return readable_time(static_cast<double>(nanoseconds));
}

std::string plural(std::uint64_t count, std::string_view thing) {
  return weft::format("{} {}{}", grouped(count), thing, count == 1 ? "" : "s");
}

std::string error_list(const load_errors& errors) {
  if (errors.total() == 0) return "none";
  std::string list;
  for (const error_kind& kind : error_kinds) {
    const std::uint64_t count = errors.*kind.count;
    if (count == 0) continue;
    if (!list.empty()) list += ", ";
    list += weft::format("{} {}", grouped(count), kind.words);
  }
  return list;
}

std::string verdict_of(bool is_kept, const load_result& result) {
  if (result.counts.not_2xx() != 0) return plural(result.counts.not_2xx(), "reply not 2xx");
  if (result.counts.errors.total() != 0) return error_list(result.counts.errors);
  return is_kept ? "kept" : "too slow";
}

}  // namespace weft::bench
