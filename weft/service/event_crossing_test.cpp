#include <weft/service/event_crossing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/poison.hpp>
#include <weft/loop/sharded.hpp>
#include <weft/loop/shards_fixture_test.hpp>
#include <weft/service/event_bus.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

struct sold {
  unsigned by = 0;
  int number = 0;
};
struct note {
  std::unique_ptr<std::string> text;
};
struct bulky {
  std::array<char, 4000> bytes{};
};
struct nothing {};

/// A shard's bus, and what it has told.
struct station {
  explicit station(event_options bounds) : bus{bounds, event_loop::current()} {}

  void listen() {
    heard = bus.on<sold>([this](const sold& e) { told.push_back(e); });
  }
  [[nodiscard]] std::vector<int> numbers_of(unsigned sender) const {
    std::vector<int> all;
    for (const sold& each : told)
      if (each.by == sender) all.push_back(each.number);
    return all;
  }

  event_bus bus;
  event_registration heard;
  std::vector<sold> told;
};

class event_crossing_test : public on_shards {
 protected:
  using stations = sharded<std::unique_ptr<station>>;

  /// A bus on each of so many shards, all of which listen, while `body` runs on the first.
  template <class F>
  void with_buses(unsigned count, event_options bounds, F body) {
    with_buses(count, bounds, bounds, std::move(body));
  }
  template <class F>
  void with_buses(unsigned count, event_options of_first, event_options of_others, F body) {
    run(count, [&](event_loop&) -> task<void> {
      stations all;
      EXPECT_TRUE(co_await all.start([=](unsigned shard) {
        auto made = std::make_unique<station>(shard == 0 ? of_first : of_others);
        made->listen();
        return made;
      }));
      co_await body(all);
      EXPECT_TRUE(co_await all.broadcast([](auto& here) { return here->bus.stop(); }));
      co_await all.stop();
    });
  }
  /// Until `shard` has told so many.
  static task<void> until_told(stations& all, unsigned shard, std::size_t count) {
    while (*co_await all.on(shard, [](auto& here) { return here->told.size(); }) < count)
      co_await yield{event_loop::current()};
  }
  static task<std::vector<int>> told_of(stations& all, unsigned shard, unsigned sender) {
    co_return *co_await all.on(shard, [sender](auto& here) { return here->numbers_of(sender); });
  }
};
INSTANTIATE_TEST_SUITE_P(backends, event_crossing_test, threaded_backends, shards_backend_name);

TEST_P(event_crossing_test, tells_another_shard_and_only_that) {
  with_buses(3, {}, [&](stations& all) -> task<void> {
    event_bus& events = all.local()->bus;
    EXPECT_TRUE(events.publish(sold{0, 7}, to_shard{2}));
    EXPECT_TRUE(events.publish(sold{0, 8}, to_shard{0}));
    co_await until_told(all, 2, 1);
    co_await until_told(all, 0, 1);
    EXPECT_EQ(co_await told_of(all, 2, 0), std::vector{7});
    EXPECT_EQ(co_await told_of(all, 0, 0), std::vector{8});
    EXPECT_TRUE((co_await told_of(all, 1, 0)).empty());
  });
}

TEST_P(event_crossing_test, tells_all_shards) {
  with_buses(3, {}, [&](stations& all) -> task<void> {
    EXPECT_TRUE(all.local()->bus.publish(sold{0, 7}, to_all_shards));
    for (unsigned shard = 0; shard < 3; ++shard) {
      co_await until_told(all, shard, 1);
      EXPECT_EQ(co_await told_of(all, shard, 0), std::vector{7});
    }
  });
}

TEST_P(event_crossing_test, carries_events_of_any_kind) {
  with_buses(2, {}, [&](stations& all) -> task<void> {
    std::vector<std::string> heard;
    const auto listen = [&heard](std::unique_ptr<station>& here) {
      std::vector<event_registration> kept;
      kept.push_back(here->bus.on<note>([&heard](const note& e) { heard.push_back(*e.text); }));
      kept.push_back(here->bus.on<bulky>(
          [&heard](const bulky& e) { heard.push_back(std::string(3, e.bytes.back())); }));
      kept.push_back(here->bus.on<nothing>([&heard](const nothing&) { heard.push_back("none"); }));
      return kept;
    };
    auto kept = co_await all.on(1, listen);
    event_bus& events = all.local()->bus;
    EXPECT_TRUE(events.publish(note{std::make_unique<std::string>("text")}, to_shard{1}));
    bulky filled;
    filled.bytes.fill('x');
    EXPECT_TRUE(events.publish(filled, to_shard{1}));
    EXPECT_TRUE(events.publish(nothing{}, to_shard{1}));
    EXPECT_TRUE(events.publish(sold{0, 1}, to_shard{1}));
    co_await until_told(all, 1, 1);
    EXPECT_TRUE(co_await all.on(1, [&kept](auto&) { kept->clear(); })) << "where they are";
    EXPECT_EQ(heard, (std::vector<std::string>{"text", "xxx", "none"}));
  });
}

// Of one sender for one receiver in one band.
TEST_P(event_crossing_test, keeps_the_order_of_each_sender_in_each_band) {
  constexpr int count = 2'000;
  with_buses(3, {.capacity = 64, .bound = 64}, [&](stations& all) -> task<void> {
    const auto send = [](std::unique_ptr<station>& here) -> task<result<void>> {
      const unsigned me = event_loop::current().shard();
      for (int i = 0; i < count; ++i) {
        const auto sent = co_await here->bus.publish_when_room(sold{me, i}, to_shard{2});
        if (!sent) co_return sent;
      }
      co_return result<void>{};
    };
    EXPECT_TRUE(co_await all.on(0, send));
    EXPECT_TRUE(co_await all.on(1, send));
    co_await until_told(all, 2, 2 * count);
    std::vector<int> expected(count);
    for (int i = 0; i < count; ++i) expected[static_cast<std::size_t>(i)] = i;
    EXPECT_EQ(co_await told_of(all, 2, 0), expected);
    EXPECT_EQ(co_await told_of(all, 2, 1), expected);
  });
}

TEST_P(event_crossing_test, says_when_too_many_are_under_way) {
  with_buses(2, {.capacity = 2, .bound = 4}, [&](stations& all) -> task<void> {
    event_bus& events = all.local()->bus;
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(events.publish(sold{0, i}, to_shard{1}));
    EXPECT_EQ(events.publish(sold{0, 4}, to_shard{1}).error(), errc::limit_exceeded);
    EXPECT_EQ(events.statistics_of<sold>().refused, 1U);
    EXPECT_EQ(events.publish(sold{0, 4}, to_all_shards).error(), errc::limit_exceeded);
    EXPECT_EQ(events.queued(), 0U) << "to all of them or to none";
    EXPECT_TRUE(co_await events.publish_when_room(sold{0, 5}, to_shard{1}));
    co_await until_told(all, 1, 5);
    EXPECT_EQ(co_await told_of(all, 1, 0), (std::vector{0, 1, 2, 3, 5}));
  });
}

TEST_P(event_crossing_test, loses_nothing_where_the_queue_over_there_is_full) {
  constexpr int count = 50;
  with_buses(2, {}, {.capacity = 2, .bound = 2}, [&](stations& all) -> task<void> {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(all.local()->bus.publish(sold{0, i}, to_shard{1}));
    co_await until_told(all, 1, count);
    std::vector<int> expected(count);
    for (int i = 0; i < count; ++i) expected[static_cast<std::size_t>(i)] = i;
    EXPECT_EQ(co_await told_of(all, 1, 0), expected);
    const auto there =
        co_await all.on(1, [](auto& here) { return here->bus.template statistics_of<sold>(); });
    EXPECT_LE(there->depth_max, 2U);
    EXPECT_EQ(there->refused, 0U);
  });
}

TEST_P(event_crossing_test, drops_what_nobody_takes_over_there) {
  run(2, [](event_loop& loop) -> task<void> {
    event_bus events{{}, loop};
    EXPECT_TRUE(events.publish(sold{0, 1}, to_shard{1}));
    EXPECT_TRUE(co_await events.stop()) << "and it is back by then";
  });
}

TEST_P(event_crossing_test, is_refused_once_either_side_has_stopped) {
  with_buses(2, {}, [&](stations& all) -> task<void> {
    event_bus& events = all.local()->bus;
    EXPECT_TRUE(co_await all.on(1, [](auto& here) { return here->bus.stop(); }));
    EXPECT_TRUE(events.publish(sold{0, 1}, to_shard{1})) << "it learns of it over there";
    EXPECT_TRUE(co_await events.stop());
    EXPECT_EQ(events.publish(sold{0, 1}, to_shard{1}).error(), errc::closed);
    EXPECT_EQ(events.publish(sold{0, 1}, to_all_shards).error(), errc::closed);
    EXPECT_EQ((co_await events.publish_when_room(sold{0, 1}, to_shard{1})).error(), errc::closed);
    EXPECT_TRUE((co_await told_of(all, 1, 0)).empty());
  });
}

TEST_P(event_crossing_test, is_refused_once_the_other_shard_has_ended) {
  run(3, [&](event_loop& loop) -> task<void> {
    event_bus events{{}, loop};
    int told = 0;
    const auto heard = events.on<sold>([&](const sold&) { ++told; });
    shards_->request_stop(1);
    while (!shards_->has_ended(1)) {  // and what is under way then comes back
      const auto sent = events.publish(sold{}, to_shard{1});
      EXPECT_TRUE(sent || sent.error() == errc::closed || sent.error() == errc::limit_exceeded);
      co_await yield{loop};
    }
    EXPECT_EQ(events.publish(sold{}, to_shard{1}).error(), errc::closed);
    const auto waited = co_await events.publish_when_room(sold{}, to_shard{1});
    EXPECT_EQ(waited.error(), errc::closed);
    EXPECT_TRUE(events.publish(sold{}, to_all_shards)) << "those that are left";
    EXPECT_TRUE(co_await events.stop());
    EXPECT_EQ(told, 1);
  });
}

// As when its program fails to start, and nobody stops it.
TEST_P(event_crossing_test, a_bus_that_is_a_service_ends_after_what_it_has_sent) {
  run(2, [](event_loop& loop) -> task<void> {
    constexpr static std::string_view name = "bus";
    lifetime own{name};
    std::optional<event_bus> events;
    {
      const lifetime::making now{own};
      events.emplace(event_options{}, loop);
    }
    EXPECT_TRUE(events->publish(sold{0, 1}, to_shard{1}));
    EXPECT_TRUE(events->publish(sold{0, 2}, to_shard{1}));
    EXPECT_FALSE(own.idle());
    co_await own.ended();
    events.reset();
  });
}

TEST_P(event_crossing_test, asks_the_heap_for_nothing_once_it_is_warm) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "frames are blocks of the heap there";
  with_buses(2, {}, [&](stations& all) -> task<void> {
    event_bus& events = all.local()->bus;
    EXPECT_TRUE(co_await all.on(1, [](auto& here) { here->told.reserve(1'000); }));
    std::uint64_t allocations = 0;
    for (std::size_t round = 1; round <= 2; ++round) {
      const testing::allocation_counter since;
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(events.publish(sold{0, i}, to_shard{1}));
      allocations = since.allocations();
      co_await until_told(all, 1, round * 100);
      while (events.under_way() != 0) co_await yield{event_loop::current()};
    }
    EXPECT_EQ(allocations, 0U);
  });
}

TEST_P(event_crossing_test, waits_for_room_in_the_own_queue) {
  with_buses(1, {.capacity = 1, .bound = 2}, [&](stations& all) -> task<void> {
    event_bus& events = all.local()->bus;
    EXPECT_TRUE(events.publish(sold{0, 1}));
    EXPECT_TRUE(co_await events.publish_when_room(sold{0, 2}, to_shard{0}));
    EXPECT_EQ(all.local()->numbers_of(0).front(), 1) << "which has made room";
  });
}

TEST(event_crossing, of_a_loop_alone_is_told_there) {
  auto loop = *event_loop::create({.backend = backend_kind::simulated});
  loop->spawn([](event_loop& here) -> task<void> {
    event_bus events{{}, here};
    int told = 0;
    const auto heard = events.on<sold>([&](const sold&) { ++told; });
    EXPECT_TRUE(events.publish(sold{}, to_all_shards));
    EXPECT_TRUE(events.publish(sold{}, to_shard{0}));
    EXPECT_TRUE(co_await events.stop());
    EXPECT_EQ(told, 2);
  }(*loop));
  loop->run();
}

}  // namespace
}  // namespace weft
