#include "html_report.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "latency_plot.hpp"

namespace {

using namespace std::chrono_literals;
using weft::bench::load_options;
using weft::bench::load_result;
using weft::bench::rate_probe;
using weft::bench::rate_search_result;
using weft::bench::to_html;

load_options options_of_page() {
  load_options options;
  options.to = *weft::bench::parse_target("http://127.0.0.1:8080/<a&\"b\">");
  options.p99_most = 5ms;
  return options;
}

load_result result_of(std::uint64_t requests, std::uint64_t nanoseconds) {
  load_result result;
  result.seconds = 1;
  result.counts.requests = requests;
  for (std::uint64_t i = 0; i < requests; ++i) result.latency.record(nanoseconds * (i + 1));
  return result;
}

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(html_report, shows_a_curve_and_the_figures) {
  const std::string html = to_html(options_of_page(), result_of(1'000, 1'000));
  EXPECT_EQ(count_of("<polyline", html), 1U);
  EXPECT_EQ(count_of("<dd>1,000, 1,000 a second</dd>", html), 1U) << html;
  EXPECT_EQ(count_of("<dd>none</dd>", html), 1U);
  EXPECT_EQ(count_of(">p99.9</text>", html), 1U);
  EXPECT_EQ(count_of(">p99.99</text>", html), 0U) << "a thousand values know of no such percentile";
}

TEST(html_report, is_whole_and_loads_nothing) {
  const std::string html = to_html(options_of_page(), result_of(10, 1'000));
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_EQ(html.find("<script"), html.npos);
  EXPECT_EQ(html.find("src="), html.npos);
  EXPECT_EQ(html.find("<a&"), html.npos) << "what a user gives is text";
  EXPECT_NE(html.find("/&lt;a&amp;&quot;b&quot;&gt;"), html.npos);
}

TEST(html_report, of_nothing_has_no_curve) {
  EXPECT_EQ(count_of("<polyline", to_html(options_of_page(), load_result{})), 0U);
  EXPECT_EQ(count_of("<circle", to_html(options_of_page(), rate_search_result{})), 0U);
  EXPECT_EQ(weft::bench::percentile_plot({}), "");
}

TEST(html_report, of_a_search_shows_each_probe_and_the_best_ones_curve) {
  rate_search_result found;
  found.most = 1'000;
  found.probes = {rate_probe{.rate = 1'000, .is_kept = true, .result = result_of(1'000, 1'000)},
                  rate_probe{.rate = 2'000, .is_kept = false, .result = result_of(900, 9'000'000)}};
  const std::string html = to_html(options_of_page(), found);
  EXPECT_EQ(count_of("<circle class=\"kept\"", html), 1U);
  EXPECT_EQ(count_of("<circle class=\"not-kept\"", html), 1U);
  EXPECT_EQ(count_of("<polyline", html), 1U);
  EXPECT_EQ(count_of("<dd>1,000 a second</dd>", html), 1U);
  EXPECT_EQ(count_of(">too slow<", html), 1U);
}

}  // namespace
