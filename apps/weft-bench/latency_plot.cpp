#include "latency_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readable.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr double left = 80;
constexpr double right = 716;
constexpr double top = 12;
constexpr double bottom = 292;

// Of times, for they differ by orders of magnitude. In nanoseconds, from a round one to a round
// one.
class time_axis {
 public:
  time_axis(double least, double most)
      : from_{std::floor(std::log10(std::max(least, 100.0)))},
        to_{std::max(std::ceil(std::log10(std::max(most, 100.0))), from_ + 1)} {}

  [[nodiscard]] double y(double time) const {
    return bottom - (std::log10(std::max(time, 100.0)) - from_) / (to_ - from_) * (bottom - top);
  }
  [[nodiscard]] std::string lines() const {
    std::string svg;
    for (double decade = from_; decade <= to_; ++decade) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (decade == to_ && factor > 1) break;
        const double time = factor * std::pow(10, decade);
        svg += weft::format(R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)", left,
                            right, y(time), y(time));
        if (factor > 1 && to_ - from_ > 2) continue;  // no room for words
        svg += weft::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left - 8,
                            y(time) + 4, readable_time(time));
      }
    }
    return svg;
  }

 private:
  double from_;  // powers of ten
  double to_;
};

std::string column(double x, std::string_view name) {
  return weft::format(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>)"
                      R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
                      x, x, top, bottom, x, bottom + 18, name);
}

std::string picture(std::string_view title, std::string_view inside) {
  return weft::format("<svg viewBox=\"0 0 760 320\" role=\"img\" aria-label=\"{}\">{}</svg>\n",
                      title, inside);
}

// A number from 1, 2 and 5 times a power of ten, of which at most eight make up `most`.
double round_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 8)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power * 8 >= most) return factor * power;
  return 10 * power;
}

}  // namespace

std::string percentile_plot(const telemetry::distribution& latency) {
  if (latency.count() == 0) return {};
  const double nines = std::clamp(std::log10(static_cast<double>(latency.count())), 1.0, 6.0);
  const auto x = [&](double nine) { return left + nine / nines * (right - left); };
  constexpr int points_a_nine = 40;
  std::vector<std::uint64_t> times;
  for (int i = 0; i <= static_cast<int>(nines * points_a_nine); ++i)
    times.push_back(latency.percentile(100 - 100 * std::pow(10, -1.0 * i / points_a_nine)));

  const time_axis axis{static_cast<double>(times.front()), static_cast<double>(times.back())};
  std::string svg = axis.lines() + column(left, "0");
  for (const percentile& each : percentiles) {
    const double nine = -std::log10(1 - each.percent / 100);
    if (nine <= nines + 1e-6) svg += column(x(nine), each.name);
  }
  svg += R"(<polyline class="curve" points=")";
  for (std::size_t i = 0; i < times.size(); ++i)
    svg += weft::format("{:.1f},{:.1f} ", x(static_cast<double>(i) / points_a_nine),
                        axis.y(static_cast<double>(times[i])));
  svg += R"("/>)";
  return picture("Latency over percentiles", svg);
}

std::string rate_plot(std::span<const rate_probe> probes, std::chrono::nanoseconds p99_most) {
  if (probes.empty()) return {};
  const auto limit = static_cast<double>(p99_most.count());
  const auto p99 = [](const rate_probe& probe) {
    return static_cast<double>(probe.result.latency.percentile(99));
  };
  double fastest = 0;
  double least = limit;
  double most = limit;
  for (const rate_probe& each : probes) {
    fastest = std::max(fastest, each.rate);
    least = std::min(least, p99(each));
    most = std::max(most, p99(each));
  }
  const time_axis axis{least, most};
  const double step = round_step(fastest);
  const double end = step * std::ceil(fastest / step);
  const auto x = [&](double rate) { return left + rate / end * (right - left); };
  std::string svg = axis.lines();
  for (double rate = 0; rate <= end; rate += step) svg += column(x(rate), grouped(rate));
  svg += weft::format(R"(<line class="limit" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)", left,
                      right, axis.y(limit), axis.y(limit));
  for (const rate_probe& each : probes)
    svg += weft::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="5"/>)",
                        each.is_kept ? "kept" : "not-kept", x(each.rate), axis.y(p99(each)));
  return picture("99th percentile over the rate", svg);
}

}  // namespace weft::bench
