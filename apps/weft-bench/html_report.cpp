#include "html_report.hpp"

#include <algorithm>
#include <string_view>

#include "html_page.hpp"
#include "latency_plot.hpp"
#include "readable.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

std::string page(const load_options& options, std::string_view inside) {
  return html_page("Load on " + options.to.to_string(), inside);
}

std::string connections_of(const load_options& options) {
  return fact("connections", grouped(static_cast<std::uint64_t>(options.connections)));
}

std::string probe_rows(const rate_search_result& found) {
  std::string html =
      "<table><tr><th>due a second</th><th>served</th><th>p50</th><th>p99</th><th></th></tr>\n";
  for (const rate_probe& each : found.probes)
    html += weft::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", grouped(each.rate),
        grouped(rate_of(each.result)), readable_time(each.result.latency.percentile(50)),
        readable_time(each.result.latency.percentile(99)), verdict_of(each.is_kept, each.result));
  return html + "</table>";
}

}  // namespace

std::string to_html(const load_options& options, const load_result& result) {
  const load_counts& counts = result.counts;
  std::string html = "<dl>" + connections_of(options);
  html += fact("time", weft::format("{:.2f} s{}", result.seconds,
                                    result.interrupted ? " (interrupted)" : ""));
  html += fact("requests",
               weft::format("{}, {} a second{}", grouped(counts.requests), grouped(rate_of(result)),
                            options.rate > 0 ? weft::format(" of {} due", grouped(options.rate))
                                             : std::string{}));
  html += fact("errors", error_list(counts.errors));
  if (counts.not_2xx() != 0)
    html += fact("not 2xx", weft::format("{} 3xx, {} 4xx, {} 5xx", grouped(counts.status_3xx),
                                         grouped(counts.status_4xx), grouped(counts.status_5xx)));
  html += fact("generator",
               weft::format("{:.2f} µs of CPU a request", cpu_microseconds_per_request(result)));
  if (options.rate > 0)
    html += fact("sent late", weft::format("p99 {}, max {}, by the generator",
                                           readable_time(result.send_delay.percentile(99)),
                                           readable_time(result.send_delay.max())));
  html += "</dl>\n";
  return page(options, html + latency_section("over percentiles", result.latency));
}

std::string to_html(const load_options& options, const rate_search_result& found) {
  const std::string limit = readable_time(static_cast<double>(options.p99_most.count()));
  std::string html = "<dl>" + connections_of(options) + fact("p99 at most", limit);
  html += fact("highest rate", found.most > 0 ? weft::format("{} a second", grouped(found.most))
                                              : std::string{"no rate was kept"});
  if (found.interrupted) html += fact("search", "interrupted");
  html += "</dl>\n<h2>99th percentile over the rate</h2>\n<div class=\"wide\">" +
          rate_plot(found.probes, options.p99_most) + probe_rows(found) + "</div>\n";
  const auto best = std::ranges::find_if(found.probes, [&](const rate_probe& each) {
    return each.is_kept && each.rate == found.most;
  });
  if (best != found.probes.end())
    html += latency_section("at the highest rate", best->result.latency);
  return page(options, html);
}

}  // namespace weft::bench
