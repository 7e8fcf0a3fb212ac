#include "html_report.hpp"

#include <algorithm>
#include <string_view>

#include "latency_plot.hpp"
#include "readable.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr std::string_view style = R"(
:root { --ink: #1d2330; --soft: #5d6675; --line: #dde2ea; --page: #fff; --panel: #f6f8fb;
  --good: #3f6fb5; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #333b49;
  --page: #14181f; --panel: #1b212b; --good: #5a8fdd; --bad: #ff8a80; } }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 60rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0;
  padding: .9rem 1.1rem; background: var(--panel); border-radius: 8px; }
dt, th { color: var(--soft); font-weight: 500; } dd { margin: 0; }
.wide { overflow-x: auto; } svg { display: block; min-width: 36rem; width: 100%; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.grid { stroke: var(--line); } .curve { fill: none; stroke: var(--good); stroke-width: 2; }
.limit { stroke: var(--bad); stroke-dasharray: 6 4; }
.kept { fill: var(--good); } .not-kept { fill: none; stroke: var(--bad); stroke-width: 2; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }
td:last-child, th:last-child { text-align: left; }
)";

std::string escaped(std::string_view text) {
  std::string html;
  for (const char letter : text) {
    switch (letter) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      default: html += letter;
    }
  }
  return html;
}

std::string fact(std::string_view name, std::string_view value) {
  return weft::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped(value));
}

std::string page(const load_options& options, std::string_view inside) {
  const std::string title = escaped(options.to.to_string());
  return weft::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>Load on {}</title><style>{}</style></head>\n<body>\n<h1>{}</h1>\n{}</body></html>\n",
      title, style, title, inside);
}

std::string connections_of(const load_options& options) {
  return fact("connections", grouped(static_cast<std::uint64_t>(options.connections)));
}

std::string latency_section(std::string_view where, const telemetry::distribution& latency) {
  std::string html = weft::format("<h2>Latency {}</h2>", where);
  html += "\n<div class=\"wide\">" + percentile_plot(latency);
  html += "<table><tr>";
  for (const percentile& each : percentiles) html += weft::format("<th>{}</th>", each.name);
  html += "<th>max</th></tr>\n<tr>";
  for (const percentile& each : percentiles)
    html += weft::format("<td>{}</td>", readable_time(latency.percentile(each.percent)));
  return html + weft::format("<td>{}</td></tr></table></div>\n", readable_time(latency.max()));
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
