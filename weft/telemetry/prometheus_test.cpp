#include <weft/telemetry/prometheus.hpp>

#include <gtest/gtest.h>

#include <string>

#include <weft/telemetry/registry.hpp>

namespace weft::telemetry {
namespace {

TEST(prometheus, counters_and_gauges_with_their_labels) {
  registry metrics{{.shards = 2}};
  metrics.shard(0).counter("requests_total", "Requests", {{"method", "GET"}}).add(3);
  metrics.shard(1).counter("requests_total", "Requests", {{"method", "GET"}}).add(4);
  metrics.shard(0).counter("requests_total", "Requests", {{"method", "PUT"}}).add();
  metrics.shard(0).gauge("balance", "May be below 0").set(-9);
  std::string page;
  append_prometheus(metrics.read(), page);
  EXPECT_TRUE(page.contains("# HELP balance May be below 0\n# TYPE balance gauge\nbalance -9\n"))
      << page;
  EXPECT_TRUE(
      page.contains("# HELP requests_total Requests\n# TYPE requests_total counter\n"
                    "requests_total{method=\"GET\"} 7\n"
                    "requests_total{method=\"PUT\"} 1\n"))
      << page;
}

TEST(prometheus, a_text_cannot_end_its_line) {
  registry metrics{{.shards = 1}};
  metrics.shard(0).counter("a_total", "back\\slash \"and\nline", {{"path", "\"} 1\n\\b"}}).add();
  std::string page;
  append_prometheus(metrics.read(), page);
  EXPECT_TRUE(page.contains("# HELP a_total back\\\\slash \"and\\nline\n")) << page;
  EXPECT_TRUE(page.contains("a_total{path=\"\\\"} 1\\n\\\\b\"} 1\n")) << page;
}

TEST(prometheus, histograms_are_cumulative_and_exact) {
  registry metrics{{.shards = 1}};
  auto latency = metrics.shard(0).histogram("latency_ns", "Latency", {{"route", "/"}});
  for (const std::uint64_t value : {0u, 255u, 256u, 511u, 512u, 1'000'000'000u})
    latency.record(value);
  latency.record(std::uint64_t{1} << 39);
  std::string page;
  append_prometheus(metrics.read(), page);
  for (const char* line :
       {"# TYPE latency_ns histogram\nlatency_ns_bucket{route=\"/\",le=\"255\"} 2\n",
        "latency_ns_bucket{route=\"/\",le=\"511\"} 4\n",
        "latency_ns_bucket{route=\"/\",le=\"1023\"} 5\n",
        "latency_ns_bucket{route=\"/\",le=\"536870911\"} 5\n",
        "latency_ns_bucket{route=\"/\",le=\"1073741823\"} 6\n",
        "latency_ns_bucket{route=\"/\",le=\"68719476735\"} 6\n"
        "latency_ns_bucket{route=\"/\",le=\"+Inf\"} 7\n",
        "latency_ns_sum{route=\"/\"} 550755815422\n", "latency_ns_count{route=\"/\"} 7\n"})
    EXPECT_TRUE(page.contains(line)) << line << "\nin\n" << page;
}

}  // namespace
}  // namespace weft::telemetry
