#include "html_page.hpp"

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

}  // namespace

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

std::string html_page(std::string_view title, std::string_view inside) {
  const std::string shown = escaped(title);
  return weft::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{}</title><style>{}</style></head>\n<body>\n<h1>{}</h1>\n{}</body></html>\n",
      shown, style, shown, inside);
}

}  // namespace weft::bench
