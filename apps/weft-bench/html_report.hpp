// A load's result as one page: no script, nothing loaded from elsewhere, pictures in SVG.
//
//   std::fputs(weft::bench::to_html(options, result).c_str(), file);
#pragma once

#include <string>

#include "load.hpp"
#include "options.hpp"
#include "rate_search.hpp"

namespace weft::bench {

std::string to_html(const load_options& options, const load_result& result);
std::string to_html(const load_options& options, const rate_search_result& found);

}  // namespace weft::bench
