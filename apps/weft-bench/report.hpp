// A load's result, for people and for programs.
//
//   std::fputs(weft::bench::to_text(options, result).c_str(), stdout);
#pragma once

#include <string>

#include "load.hpp"
#include "options.hpp"
#include "rate_search.hpp"

namespace weft::bench {

std::string to_text(const load_options& options, const load_result& result);

// One object on one line. Times are in the unit their names end in; requests and errors are those
// of the measured time, `requests_with_warm_up` counts both.
std::string to_json(const load_options& options, const load_result& result);

// A search for the highest rate: a heading, a line for each probe as it ends, and the answer.
std::string heading_of_search(const load_options& options);
std::string to_text(const rate_probe& probe);
std::string to_text(const rate_search_result& found);
std::string to_json(const load_options& options, const rate_search_result& found);
int exit_status(const rate_search_result& found);

// "12 s   173,412 req/s   p99 3.21 ms   no errors", without a line end.
std::string progress_line(double seconds, bool warming_up, const load_counts& so_far,
                          const telemetry::distribution& latency);

// 0, 1 or 3, as the help says.
int exit_status(const load_result& result);

}  // namespace weft::bench
