// What the pages of weft-bench have in common: no script, nothing loaded from elsewhere, pictures
// in SVG.
//
//   html_page("Load", "<dl>" + fact("errors", "none") + "</dl>" + latency_section("of all", all));
#pragma once

#include <string>
#include <string_view>

#include <weft/telemetry/distribution.hpp>

namespace weft::bench {

/// Of plain text.
std::string escaped(std::string_view text);

/// A line of a list; the value is plain text.
std::string fact(std::string_view name, std::string_view value);

/// The curve of a latency over its percentiles, and a table of them.
std::string latency_section(std::string_view where, const telemetry::distribution& latency);

/// `title` is plain text, `inside` is HTML.
std::string html_page(std::string_view title, std::string_view inside);

}  // namespace weft::bench
