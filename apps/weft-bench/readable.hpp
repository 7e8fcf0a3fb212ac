// Figures of a load in words, as all its reports give them.
//
//   grouped(1234567)      // "1,234,567"
//   readable_time(2.5e6)  // "2.50 ms"
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "load.hpp"

namespace weft::bench {

struct percentile {
  std::string_view name;
  double percent;
};
inline constexpr std::array percentiles{percentile{"p50", 50},       percentile{"p90", 90},
                                        percentile{"p99", 99},       percentile{"p99.9", 99.9},
                                        percentile{"p99.99", 99.99}, percentile{"p99.999", 99.999}};

struct error_kind {
  std::string_view name;   // in JSON
  std::string_view words;  // in text
  std::uint64_t load_errors::* count;
};
inline constexpr std::array error_kinds{
    error_kind{"connect", "could not connect", &load_errors::connect},
    error_kind{"closed", "closed before the reply's end", &load_errors::closed},
    error_kind{"reset", "reset", &load_errors::reset},
    error_kind{"timed_out", "timed out", &load_errors::timed_out},
    error_kind{"malformed", "not the reply expected", &load_errors::malformed},
    error_kind{"unasked", "more than the reply came", &load_errors::unasked},
    error_kind{"unsent", "due but never sent", &load_errors::unsent},
};

// Replies a second.
double rate_of(const load_result& result);

// Of the generator itself.
double cpu_seconds(const load_result& result);
double cpu_microseconds_per_request(const load_result& result);

std::string grouped(std::uint64_t number);
std::string grouped(double number);

// Nanoseconds, with the unit that leaves one to three digits before the point.
std::string readable_time(double nanoseconds);
std::string readable_time(std::uint64_t nanoseconds);

std::string plural(std::uint64_t count, std::string_view thing);

// "1 reset, 2,000 timed out", or "none".
std::string error_list(const load_errors& errors);

// "kept", or why a probe was not.
std::string verdict_of(bool is_kept, const load_result& result);

}  // namespace weft::bench
