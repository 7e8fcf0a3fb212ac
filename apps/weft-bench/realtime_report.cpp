#include "realtime_report.hpp"

#include <algorithm>

#include "html_page.hpp"
#include "readable.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr double compared_percent = 99.99;

double in_us(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

std::string row(std::string_view who, const telemetry::distribution& latency) {
  std::string text = weft::format("  {:<11}", who);
  for (const percentile& each : percentiles)
    text += weft::format(" {:>9.0f}", in_us(latency.percentile(each.percent)));
  return text + weft::format(" {:>9.0f}\n", in_us(latency.max()));
}

std::string json_of(const telemetry::distribution& latency) {
  std::string object = weft::format("{{\"wakeups\":{}", latency.count());
  for (const percentile& each : percentiles)
    object += weft::format(",\"{}_us\":{:.0f}", each.name, in_us(latency.percentile(each.percent)));
  return object + weft::format(",\"max_us\":{:.0f}}}", in_us(latency.max()));
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& each : parts) text += (text.empty() ? "" : "; ") + each;
  return text;
}

std::string or_nothing(std::string text) { return text.empty() ? "nothing" : text; }

/// Of texts that need no escape.
std::string json_array(const std::vector<std::string>& texts) {
  std::string array;
  for (const std::string& each : texts)
    array += weft::format(R"({}"{}")", array.empty() ? "" : ",", each);
  return '[' + array + ']';
}

double median_of(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

}  // namespace

telemetry::distribution wakeup_comparison::weft() const {
  telemetry::distribution all;
  for (const wakeup_round& each : rounds) all.merge(each.weft.latency);
  return all;
}

telemetry::distribution wakeup_comparison::cyclictest() const {
  telemetry::distribution all;
  for (const wakeup_round& each : rounds)
    if (each.cyclictest) all.merge(*each.cyclictest);
  return all;
}

std::int64_t wakeup_comparison::page_faults() const noexcept {
  std::int64_t all = 0;
  for (const wakeup_round& each : rounds) all += each.weft.page_faults;
  return all;
}

std::vector<std::string> wakeup_comparison::wishes(bool applied) const {
  std::vector<std::string> texts;
  for (const realtime::setup_effect& each : rounds.front().weft.effects)
    if (each.is_applied == applied) texts.push_back(each.wish);
  return texts;
}

std::vector<double> wakeup_comparison::ratios() const {
  std::vector<double> all;
  for (const wakeup_round& each : rounds) {
    if (!each.cyclictest) continue;
    const std::uint64_t theirs = each.cyclictest->percentile(compared_percent);
    all.push_back(in_us(each.weft.latency.percentile(compared_percent)) /
                  std::max(in_us(theirs), 1.0));
  }
  std::ranges::sort(all);
  return all;
}

std::string heading_of(const wakeup_plan& plan, const wakeup_comparison& first) {
  std::string text =
      weft::format("{} wake-ups a run, one every {}\nwith {}\n", grouped(plan.wakeups),
                   readable_time(static_cast<double>(plan.period.count())),
                   or_nothing(joined(first.wishes(true))));
  if (const std::string lacks = joined(first.wishes(false)); !lacks.empty())
    text += weft::format("without {}\n", lacks);
  text += weft::format("latency in microseconds, the first wake-ups included\n{:13}", "");
  for (const percentile& each : percentiles) text += weft::format(" {:>9}", each.name);
  return text + weft::format(" {:>9}\n", "max");
}

std::string to_text(const wakeup_comparison& found) {
  std::string text =
      weft::format("{}, {}\n", to_string(found.load), plural(found.rounds.size(), "round"));
  text += row("weft", found.weft());
  const std::vector<double> ratios = found.ratios();
  if (!ratios.empty()) {
    text += row("cyclictest", found.cyclictest());
    text += weft::format("  p99.99 by cyclictest's: median {:.2f}, from {:.2f} to {:.2f}\n",
                         median_of(ratios), ratios.front(), ratios.back());
  }
  return text + weft::format("  {}\n",
                             plural(static_cast<std::uint64_t>(found.page_faults()), "page fault"));
}

std::string to_json(const wakeup_plan& plan, const wakeup_comparison& found) {
  std::string line = weft::format(
      R"({{"load":"{}","period_us":{:.3f},"rounds":{},"applied":{},"not_applied":{})",
      to_string(found.load), static_cast<double>(plan.period.count()) / 1000, found.rounds.size(),
      json_array(found.wishes(true)), json_array(found.wishes(false)));
  line +=
      weft::format(R"(,"page_faults":{},"weft":{})", found.page_faults(), json_of(found.weft()));
  const std::vector<double> ratios = found.ratios();
  if (!ratios.empty())
    line += weft::format(
        R"(,"cyclictest":{},"p99.99_ratio":{{"median":{:.3f},"least":{:.3f},"most":{:.3f}}})",
        json_of(found.cyclictest()), median_of(ratios), ratios.front(), ratios.back());
  return line + "}\n";
}

std::string to_html(const wakeup_plan& plan, const std::vector<wakeup_comparison>& all) {
  std::string html = "<dl>" + fact("wake-ups a run", grouped(plan.wakeups)) +
                     fact("one every", readable_time(static_cast<double>(plan.period.count()))) +
                     fact("with", joined(all.front().wishes(true))) +
                     fact("without", joined(all.front().wishes(false))) + "</dl>\n";
  for (const wakeup_comparison& each : all) {
    html += latency_section(weft::format("of weft, {}", to_string(each.load)), each.weft());
    if (const telemetry::distribution theirs = each.cyclictest(); theirs.count() != 0)
      html += latency_section(weft::format("of cyclictest, {}", to_string(each.load)), theirs);
  }
  return html_page("Wake-up latency", html);
}

}  // namespace weft::bench
