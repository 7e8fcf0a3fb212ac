#include <weft/telemetry/registry.hpp>
#include <weft/base/log.hpp>
#include <weft/telemetry/loop_series.hpp>
#include <weft/testing/allocation_counter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using weft::telemetry::registry;
using weft::telemetry::series;
using weft::telemetry::series_kind;
using weft::telemetry::snapshot;

// Collects what is logged while it lives.
class captured_log {
 public:
  captured_log() { weft::log::set_sink(&keep, this); }
  captured_log(const captured_log&) = delete;
  captured_log& operator=(const captured_log&) = delete;
  ~captured_log() { weft::log::set_sink(nullptr, nullptr); }
  std::vector<std::string> messages;

 private:
  static void keep(weft::log::level, std::string_view message, void* self) {
    static_cast<captured_log*>(self)->messages.emplace_back(message);
  }
};

std::int64_t value_of(const snapshot& seen, std::string_view name) {
  const series* const found = seen.find(name);
  return found == nullptr ? -1 : found->value;
}

TEST(telemetry, merges_what_the_shards_counted) {
  registry metrics{{.shards = 3}};
  auto on_0 = metrics.shard(0).counter("requests_total", "Requests answered");
  auto on_2 = metrics.shard(2).counter("requests_total", "Requests answered");
  on_0.add();
  on_0.add(4);
  on_2.add(10);
  auto open_0 = metrics.shard(0).gauge("connections", "Connections open");
  auto open_1 = metrics.shard(1).gauge("connections", "Connections open");
  open_0.set(7);
  open_0.add(-9);
  open_1.add(5);
  EXPECT_EQ(on_0.value(), 5U);
  EXPECT_EQ(open_0.value(), -2);

  const snapshot seen = metrics.read();
  const series* const requests = seen.find("requests_total");
  ASSERT_NE(requests, nullptr);
  EXPECT_EQ(requests->kind, series_kind::counter);
  EXPECT_EQ(requests->help, "Requests answered");
  EXPECT_EQ(requests->value, 15);
  EXPECT_EQ(requests->by_shard, (std::vector<std::int64_t>{5, 0, 10}));
  const series* const connections = seen.find("connections");
  ASSERT_NE(connections, nullptr);
  EXPECT_EQ(connections->kind, series_kind::gauge);
  EXPECT_EQ(connections->value, 3);
}

TEST(telemetry, merges_histograms_and_keeps_their_percentiles) {
  using namespace std::chrono_literals;
  registry metrics{{.shards = 2}};
  auto fast = metrics.shard(0).histogram("latency_ns", "Latency");
  auto slow = metrics.shard(1).histogram("latency_ns", "Latency");
  for (std::uint64_t i = 1; i <= 99; ++i) fast.record(i);
  slow.record(3ms);
  slow.record(-1ms);
  const snapshot seen = metrics.read();
  const series* const latency = seen.find("latency_ns");
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(latency->value, 101);
  EXPECT_EQ(latency->by_shard, (std::vector<std::int64_t>{99, 2}));
  EXPECT_EQ(latency->values.count(), 101U);
  EXPECT_EQ(latency->values.sum(), 99U * 100 / 2 + 3'000'000);
  EXPECT_EQ(latency->values.percentile(0), 0U);
  EXPECT_EQ(latency->values.percentile(50), 50U);
  EXPECT_EQ(latency->values.percentile(100), 3'000'000U);
}

TEST(telemetry, gives_the_same_instrument_for_the_same_labels_in_any_order) {
  registry metrics;
  auto first = metrics.shard(0).counter("requests_total", "", {{"method", "GET"}, {"code", "200"}});
  auto again = metrics.shard(0).counter("requests_total", "", {{"code", "200"}, {"method", "GET"}});
  auto other = metrics.shard(0).counter("requests_total", "", {{"code", "404"}, {"method", "GET"}});
  first.add();
  again.add();
  other.add(5);
  const snapshot seen = metrics.read();
  const series* const ok = seen.find("requests_total", {{"method", "GET"}, {"code", "200"}});
  ASSERT_NE(ok, nullptr);
  EXPECT_EQ(ok->value, 2);
  EXPECT_EQ(ok->labels,
            (std::vector<std::pair<std::string, std::string>>{{"code", "200"}, {"method", "GET"}}));
  EXPECT_EQ(seen.find("requests_total"), nullptr);
  EXPECT_EQ(seen.find("requests_total", {{"code", "500"}, {"method", "GET"}}), nullptr);
}

TEST(telemetry, orders_series_by_name_and_labels) {
  registry metrics;
  for (const char* const name : {"b_total", "a_total", "c_total"})
    for (const char* const code : {"500", "200"})
      static_cast<void>(metrics.shard(0).counter(name, "", {{"code", code}}));
  std::vector<std::string> names;
  for (const series& each : metrics.read().all)
    if (!each.labels.empty()) names.push_back(each.name + each.labels[0].second);
  EXPECT_EQ(names.size(), 6U);
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

TEST(telemetry, refuses_series_beyond_its_room_and_goes_on) {
  captured_log log;
  registry metrics{{.shards = 1, .series_max = 2, .histograms_max = 1}};
  auto& meter = metrics.shard(0);
  auto kept = meter.counter("rows_total", "", {{"table", "a"}});
  static_cast<void>(meter.histogram("latency_ns", ""));
  auto refused = meter.counter("rows_total", "", {{"table", "b"}});
  refused.add(100);
  kept.add();
  EXPECT_EQ(meter.counter("rows_total", "", {{"table", "a"}}).value(), 1U) << "what is, stays";
  ASSERT_EQ(log.messages.size(), 1U);
  EXPECT_EQ(log.messages[0],
            "telemetry: no room for rows_total{table=\"b\"}: there are 2 series, and "
            "registry_options::series_max allows no more; does a label take ever new values? "
            "(refused 1 so far)");
  for (int i = 0; i < 1000; ++i) static_cast<void>(meter.counter("more_total", ""));
  EXPECT_EQ(log.messages.size(), 10U) << "at 1, 2, 4 and so on to 512";
  const snapshot seen = metrics.read();
  EXPECT_EQ(value_of(seen, "telemetry_series_refused_total"), 1001);
  EXPECT_EQ(seen.find("rows_total", {{"table", "b"}}), nullptr);
}

TEST(telemetry, refuses_histograms_beyond_their_room) {
  captured_log log;
  registry metrics{{.shards = 1, .series_max = 20, .histograms_max = 1}};
  auto& meter = metrics.shard(0);
  meter.histogram("a_ns", "").record(std::uint64_t{1});
  meter.histogram("b_ns", "").record(std::uint64_t{1});
  EXPECT_EQ(metrics.read().find("b_ns"), nullptr);
  ASSERT_EQ(log.messages.size(), 1U);
  EXPECT_TRUE(log.messages[0].contains("registry_options::histograms_max")) << log.messages[0];
}

TEST(telemetry, refuses_wrong_names_and_says_what_is_right) {
  captured_log log;
  const auto refusal = [&log](auto&& ask) {
    log.messages.clear();
    registry metrics;
    ask(metrics.shard(0));
    return log.messages.empty() ? std::string{"none"} : log.messages.back();
  };
  using weft::telemetry::meter;
  EXPECT_EQ(refusal([](meter& m) { static_cast<void>(m.counter("http-requests", "")); }),
            "telemetry: 'http-requests' is no name for a counter: [a-zA-Z_:][a-zA-Z0-9_:]* is "
            "(refused 1 so far)");
  EXPECT_EQ(refusal([](meter& m) { static_cast<void>(m.gauge("", "")); }),
            "telemetry: '' is no name for a gauge: [a-zA-Z_:][a-zA-Z0-9_:]* is (refused 1 so far)");
  EXPECT_EQ(refusal([](meter& m) { static_cast<void>(m.gauge("a", "", {{"1st", "x"}})); }),
            "telemetry: a: '1st' is no name for a label: [a-zA-Z_][a-zA-Z0-9_]* is "
            "(refused 1 so far)");
  EXPECT_EQ(refusal([](meter& m) {
              static_cast<void>(m.gauge("a", "", {{"x", "1"}, {"y", "2"}, {"x", "3"}}));
            }),
            "telemetry: a: two labels named 'x' (refused 1 so far)");
  EXPECT_EQ(refusal([](meter& m) {
              static_cast<void>(m.counter("a_total", ""));
              static_cast<void>(m.histogram("a_total", ""));
            }),
            "telemetry: a_total is a counter and cannot be a histogram too (refused 1 so far)");
}

TEST(telemetry, counts_without_allocating) {
  registry metrics;
  auto requests = metrics.shard(0).counter("requests_total", "");
  auto open = metrics.shard(0).gauge("open", "");
  auto latency = metrics.shard(0).histogram("latency_ns", "");
  const weft::testing::allocation_counter since;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    requests.add();
    open.set(static_cast<std::int64_t>(i));
    latency.record(i * i * i);
  }
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(metrics.read().find("latency_ns")->value, 1000);
}

// For ThreadSanitizer; and no reader ever sees a counter go back.
TEST(telemetry, is_read_while_shards_count_and_register) {
  constexpr std::uint64_t rounds = 20'000;
  constexpr unsigned shards = 2;
  registry metrics{{.shards = shards}};
  std::vector<std::thread> writers;
  for (unsigned shard = 0; shard < shards; ++shard)
    writers.emplace_back([&metrics, shard] {
      auto requests = metrics.shard(shard).counter("requests_total", "");
      auto latency = metrics.shard(shard).histogram("latency_ns", "");
      for (std::uint64_t i = 0; i < rounds; ++i) {
        requests.add();
        latency.record(i);
        if (i % 1000 == 0)
          metrics.shard(shard).gauge("progress", "", {{"round", std::to_string(i)}}).set(1);
      }
    });
  std::int64_t last = 0;
  while (last < static_cast<std::int64_t>(shards * rounds)) {
    const snapshot seen = metrics.read();
    const std::int64_t now = std::max<std::int64_t>(value_of(seen, "requests_total"), 0);
    ASSERT_GE(now, last);
    last = now;
  }
  for (std::thread& writer : writers) writer.join();
  const snapshot seen = metrics.read();
  const series* const latency = seen.find("latency_ns");
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(latency->values.count(), shards * rounds);
  EXPECT_EQ(latency->values.sum(), shards * (rounds * (rounds - 1) / 2));
  EXPECT_EQ(latency->values.max(), rounds - 1);
  EXPECT_EQ(seen.find("progress", {{"round", "19000"}})->value, std::int64_t{shards});
}

TEST(telemetry, reads_numbers_kept_elsewhere_while_their_source_lives) {
  registry metrics;
  const std::array<weft::loop_gauges, 2> loops{weft::loop_gauges{.turns = 3, .live_frames = 8},
                                               weft::loop_gauges{.turns = 4, .live_frames = 1}};
  {
    auto kept = metrics.add_source(
        [&loops](snapshot& into) { weft::telemetry::add_loop_series(into, loops); });
    auto moved = std::move(kept);
    const snapshot seen = metrics.read();
    const series* const turns = seen.find("loop_turns_total");
    ASSERT_NE(turns, nullptr);
    EXPECT_EQ(turns->value, 7);
    EXPECT_EQ(turns->by_shard, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(turns->kind, series_kind::counter);
    EXPECT_EQ(value_of(seen, "loop_live_frames"), 9);
    EXPECT_EQ(seen.find("loop_live_frames")->kind, series_kind::gauge);
  }
  EXPECT_EQ(metrics.read().find("loop_turns_total"), nullptr);
}

}  // namespace
