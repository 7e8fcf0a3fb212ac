#include <weft/loop/runtime.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/loop/thread_place.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

loop_options on_epoll() { return {.backend = backend_kind::epoll}; }

std::string thread_name() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

int cpus_of_this_thread() {
  cpu_set_t cpus;
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  return CPU_COUNT(&cpus);
}

TEST(runtime_test, runs_main_on_each_shard_until_it_is_stopped) {
  runtime shards{{.shards = 3, .loop = on_epoll()}};
  std::atomic<unsigned> seen{0};
  ASSERT_TRUE(shards.start([&](event_loop& loop) -> task<void> {
    EXPECT_EQ(&loop, &event_loop::current());
    seen += 1U << loop.shard();
    co_return;
  }));
  std::atomic<bool> ran{false};
  EXPECT_TRUE(shards.post(1, [&] { ran = event_loop::current().shard() == 1; }));
  while (!ran || seen != 7) std::this_thread::sleep_for(1ms);
  shards.request_stop();
  shards.join();
  EXPECT_EQ(shards.post(1, [] {}).error(), errc::closed);
}

TEST(runtime_test, names_its_threads_and_pins_them_when_asked) {
  runtime shards{
      {.shards = 2, .pin = pinning::always, .name = "engine-of-a-long-name", .loop = on_epoll()}};
  const auto ended = shards.run([&](event_loop& loop) -> task<void> {
    EXPECT_EQ(thread_name(), loop.shard() == 0 ? "engine-of-a-l 0" : "engine-of-a-l 1");
    EXPECT_EQ(cpus_of_this_thread(), 1);
    shards.request_stop();
    co_return;
  });
  EXPECT_TRUE(ended);
}

TEST(runtime_test, pins_nothing_where_there_are_fewer_cpus_than_shards) {
  const int all = cpus_of_this_thread();
  runtime shards{{.shards = usable_cpus() + 1, .loop = on_epoll()}};
  const auto ended = shards.run([&](event_loop&) -> task<void> {
    EXPECT_EQ(cpus_of_this_thread(), all);
    shards.request_stop();
    co_return;
  });
  EXPECT_TRUE(ended);
}

TEST(thread_place, names_and_does_not_pin_unless_asked) {
  const unsigned before = usable_cpus();
  unsigned after = 0;
  std::thread{[&] {
    place_thread({.name = "shard", .index = 1});
    after = usable_cpus();
  }}.join();
  EXPECT_EQ(after, before);
}

TEST(thread_place, the_last_cpu_is_one_that_may_be_used) {
  std::thread{[] {
    const unsigned last = last_usable_cpu();
    EXPECT_EQ(pin_thread(last), 0);
    EXPECT_EQ(last_usable_cpu(), last);
    if (last != 0) {
      EXPECT_EQ(pin_thread(0), 0);
      EXPECT_EQ(last_usable_cpu(), 0U) << "not as many less one, but which";
    }
  }}.join();
}

TEST(thread_place, what_a_pinned_thread_has_made_runs_anywhere_once_it_is_told) {
  const unsigned all = usable_cpus();
  unsigned made_has = 0;
  std::thread{[&] {
    EXPECT_EQ(pin_thread(last_usable_cpu()), 0);
    std::promise<void> told;
    std::thread made{[&, is_told = told.get_future()] {
      is_told.wait();
      made_has = usable_cpus();
    }};
    unpin_thread(made.native_handle());
    told.set_value();
    made.join();
    EXPECT_EQ(usable_cpus(), 1U) << "its maker stays";
  }}.join();
  EXPECT_EQ(made_has, all);
}

TEST(runtime_test, rethrows_the_first_failure_and_stops_the_rest) {
  runtime shards{{.shards = 3, .loop = on_epoll()}};
  std::atomic<int> stopped{0};
  ASSERT_TRUE(shards.start([&](event_loop& loop) -> task<void> {
    if (loop.shard() == 1) throw std::runtime_error{"broken"};
    co_await until_stopped{loop};
    ++stopped;
  }));
  EXPECT_THROW(shards.join(), std::runtime_error);
  EXPECT_EQ(stopped, 2);
}

TEST(runtime_test, may_be_stopped_before_anything_has_begun) {
  for (int round = 0; round < 50; ++round) {
    runtime shards{{.shards = 2, .loop = on_epoll()}};
    ASSERT_TRUE(shards.start([](event_loop& loop) -> task<void> { co_await until_stopped{loop}; }));
  }
}

TEST(runtime_test, shows_from_outside_what_its_loops_do) {
  runtime shards{{.shards = 2, .loop = on_epoll()}};
  ASSERT_TRUE(shards.start([](event_loop& loop) -> task<void> {
    if (loop.shard() != 0) co_return;
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(co_await on(1, [] {}));
    EXPECT_TRUE(co_await sleep_for(loop, 1ms));
    const buffer_ref held = loop.buffers().acquire();
    co_await until_stopped{loop};
  }));
  EXPECT_TRUE(shards.post(0, [] {}));
  const auto wait_for = [&](auto sees) {
    for (int i = 0; i < 10'000; ++i) {
      if (sees(shards.gauges(0), shards.gauges(1))) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  };
  EXPECT_TRUE(wait_for([](const loop_gauges& caller, const loop_gauges& called) {
    return caller.messages_out == 10 && caller.messages_in == 10 && called.messages_in == 10 &&
           called.messages_out == 10 && caller.timers_fired == 1 && caller.letters == 1 &&
           caller.buffers_in_use == 1 && caller.live_frames >= 2 && caller.sleeps > 0 &&
           caller.turns > 10 && caller.resumptions > 10 && called.turns >= 10;
  }));
}

}  // namespace
}  // namespace weft
