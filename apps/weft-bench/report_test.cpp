#include "report.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using weft::bench::exit_status;
using weft::bench::load_options;
using weft::bench::load_result;
using weft::bench::to_json;
using weft::bench::to_text;

load_options a_load() {
  load_options options;
  options.to = *weft::bench::parse_target("http://127.0.0.1:8080/a\"b");
  options.connections = 400;
  return options;
}

load_result a_result() {
  load_result result;
  result.seconds = 2;
  result.counts.requests = 1'000'000;
  result.requests_with_warm_up = 1'500'000;
  result.counts.bytes_received = 90'000'000;
  result.cpu_user_seconds = 0.5;
  result.cpu_system_seconds = 1.5;
  for (int i = 0; i < 100; ++i) result.latency.record(2'000'000);
  return result;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(report, text_tells_the_figures) {
  const std::string text = to_text(a_load(), a_result());
  EXPECT_TRUE(has(text, "400 connections, 2.00 s\n")) << text;
  EXPECT_TRUE(has(text, "1,000,000, 500,000 a second")) << text;
  EXPECT_TRUE(has(text, "45.00 MB/s")) << text;
  EXPECT_TRUE(has(text, "p99.999 2.00 ms  max 2.00 ms")) << text;
  EXPECT_TRUE(has(text, "2.00 µs of CPU a request, 100 % of a core")) << text;
  EXPECT_TRUE(has(text, "errors     none\n")) << text;
}

TEST(report, an_open_loop_tells_what_was_due_and_how_late_it_was_itself) {
  load_options options = a_load();
  options.rate = 500'100;
  load_result result = a_result();
  result.counts.errors.unsent = 200;
  result.send_delay.record(3'000);
  const std::string text = to_text(options, result);
  EXPECT_TRUE(has(text, "1,000,000, 500,000 a second of 500,100 due\n")) << text;
  EXPECT_TRUE(has(text, "sent late  p99 3.0 µs  max 3.0 µs")) << text;
  EXPECT_TRUE(has(text, "200 due but never sent")) << text;
  EXPECT_TRUE(has(to_json(options, result), R"("rate":500100,)"));
  EXPECT_TRUE(has(to_json(options, result), R"("send_delay_us":{"p50":3.000,)"));
}

TEST(report, text_tells_what_went_wrong) {
  load_result result = a_result();
  result.counts.errors.reset = 1;
  result.counts.errors.timed_out = 2'000;
  result.counts.status_5xx = 7;
  result.interrupted = true;
  const std::string text = to_text(a_load(), result);
  EXPECT_TRUE(has(text, "1 reset, 2,000 timed out")) << text;
  EXPECT_TRUE(has(text, "0 4xx, 7 5xx")) << text;
  EXPECT_TRUE(has(text, "(interrupted)")) << text;
}

TEST(report, json_is_one_line_and_escaped) {
  const std::string json = to_json(a_load(), a_result());
  EXPECT_TRUE(json.starts_with(R"({"target":"http://127.0.0.1:8080/a\"b","connections":400,)"));
  EXPECT_TRUE(has(json, R"("requests_per_second":500000.0,)")) << json;
  EXPECT_TRUE(has(json, R"("p50":2000.000,)")) << json;
  EXPECT_TRUE(has(json, R"("cpu_us_per_request":2.0000})")) << json;
  EXPECT_EQ(json.find('\n'), json.size() - 1);
}

TEST(report, a_run_without_a_reply_is_still_a_report) {
  EXPECT_TRUE(has(to_text(a_load(), load_result{}), "0, 0 a second"));
  EXPECT_TRUE(has(to_json(a_load(), load_result{}), R"("cpu_us_per_request":0.0000)"));
}

TEST(report, exit_status_tells_clean_from_failed) {
  load_result result = a_result();
  EXPECT_EQ(exit_status(result), 0);
  result.counts.status_4xx = 1;
  EXPECT_EQ(exit_status(result), 1);
  result = a_result();
  result.errors_in_warm_up.closed = 1;
  EXPECT_EQ(exit_status(result), 1);
  EXPECT_EQ(exit_status(load_result{}), 3);
}

TEST(report, progress_is_short) {
  weft::bench::load_counts counts;
  counts.requests = 300'000;
  EXPECT_EQ(progress_line(3, false, counts, {}), "   3 s   100,000 req/s   p99 0.0 µs   no errors");
  counts.status_5xx = 1;
  EXPECT_EQ(progress_line(3, true, counts, {}),
            "   3 s (warm-up)   100,000 req/s   p99 0.0 µs   1 error");
}

}  // namespace
