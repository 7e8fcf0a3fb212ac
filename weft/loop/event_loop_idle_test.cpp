// What a loop does when it has nothing to do, seen by how often its thread gave up the processor:
// one voluntary context switch for each time it slept.
#include <weft/loop/event_loop.hpp>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

#include <weft/base/random.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// Times this thread has slept so far.
long sleeps() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

/// Calls of write() this thread has made so far; a letter that wakes its reader is one.
std::optional<long> writes() {
  std::ifstream counts{"/proc/thread-self/io"};
  for (std::string line; std::getline(counts, line);)
    if (line.starts_with("syscw: ")) return std::stol(line.substr(7));
  return std::nullopt;
}

class idle_loop_test : public on_any_backend {
 protected:
  void SetUp() override {}
  void open_idle(idle_policy idle) { open({.backend = GetParam(), .idle = idle}); }
};
INSTANTIATE_TEST_SUITE_P(backends, idle_loop_test, kernel_backends, backend_name);
using idle_loop_in_memory_test = in_memory;

task<void> nap(event_loop& loop, duration length) {
  const time_point due = loop.now() + length;
  EXPECT_TRUE(co_await sleep_for(loop, length));
  EXPECT_GE(loop.now(), due) << "early";
}

task<void> stay(event_loop& loop) { co_await until_stopped{loop}; }

/// Posts `rounds` letters from another thread, each `pause` after the one before was read.
std::thread correspondent(event_loop& loop, int rounds, duration pause) {
  return std::thread{[&loop, rounds, pause] {
    std::binary_semaphore answered{0};
    for (int i = 0; i < rounds; ++i) {
      std::this_thread::sleep_for(pause);
      loop.post([&] { answered.release(); });
      EXPECT_TRUE(answered.try_acquire_for(60s)) << "unread in round " << i;
    }
    loop.post([&loop] { loop.request_stop(); });
  }};
}

TEST_P(idle_loop_test, what_a_polling_loop_holds_can_be_seen) {
  open_idle(idle_policy::spin());
  if (IsSkipped()) return;
  loop_->spawn(stay(*loop_));
  std::thread onlooker{[this] {
    while (loop_->gauges().live_frames == 0) std::this_thread::yield();
    loop_->post_stop();
  }};
  loop_->run();
  onlooker.join();
  EXPECT_LT(loop_->turns(), 64U);
}

TEST_P(idle_loop_test, sleeps_until_a_timer_is_due_without_turning) {
  open_idle(idle_policy::sleep());
  if (IsSkipped()) return;
  loop_->spawn(nap(*loop_, 50ms));
  const long before = sleeps();
  loop_->run();
  EXPECT_GE(sleeps() - before, 1);
  EXPECT_LT(loop_->turns(), 20U);
}

TEST_P(idle_loop_test, spins_through_a_timer_without_sleeping_or_turning) {
  open_idle(idle_policy::spin());
  if (IsSkipped()) return;
  loop_->spawn(nap(*loop_, 50ms));
  const long before = sleeps();
  loop_->run();
  EXPECT_EQ(sleeps() - before, 0);
  EXPECT_LT(loop_->turns(), 20U) << "polling is part of a turn";
}

TEST_P(idle_loop_test, sleeps_once_it_has_spun_for_long_enough) {
  open_idle({.spin_for = 1ms});
  if (IsSkipped()) return;
  loop_->spawn(nap(*loop_, 200ms));
  const long before = sleeps();
  loop_->run();
  EXPECT_GE(sleeps() - before, 1);
  EXPECT_LT(sleeps() - before, 20);
  EXPECT_LT(loop_->turns(), 20U);
}

TEST_P(idle_loop_test, a_letter_reaches_a_spinning_loop_that_does_not_sleep) {
  open_idle(idle_policy::spin());
  if (IsSkipped()) return;
  loop_->spawn(stay(*loop_));
  constexpr int rounds = 300;
  std::thread friendly = correspondent(*loop_, rounds, 10us);
  const long before = sleeps();
  loop_->run();
  friendly.join();
  // The mailbox's lock may be taken now and then.
  EXPECT_LT(sleeps() - before, rounds / 2);
}

TEST_P(idle_loop_test, who_writes_to_a_spinning_loop_need_not_wake_it) {
  for (const idle_policy idle : {idle_policy::sleep(), idle_policy::spin()}) {
    loop_.reset();
    open_idle(idle);
    if (IsSkipped()) return;
    loop_->spawn(stay(*loop_));
    std::optional<long> before;
    std::optional<long> after;
    std::thread friendly{[&, &loop = *loop_] {
      std::binary_semaphore answered{0};
      for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(1ms);
        if (i == 1) before = writes();  // the first may have come before the loop ran
        loop.post([&] { answered.release(); });
        EXPECT_TRUE(answered.try_acquire_for(60s));
      }
      after = writes();
      loop.post([&loop] { loop.request_stop(); });
    }};
    loop_->run();
    friendly.join();
    if (!before || !after) GTEST_SKIP() << "this kernel does not count what a thread writes";
    if (idle.spins())
      EXPECT_EQ(*after - *before, 0);
    else
      EXPECT_GT(*after - *before, 0) << "the test cannot see a wake-up";
  }
}

TEST_P(idle_loop_test, a_socket_that_nobody_waits_for_ends_while_the_loop_spins) {
  open_idle(idle_policy::spin());
  if (IsSkipped()) return;
  const auto socket = loop_->io().open_stream(AF_INET);
  ASSERT_TRUE(socket);
  loop_->spawn([](event_loop& loop, descriptor& abandoned) -> task<void> {
    loop.io().abandon(abandoned);
    co_return;
  }(*loop_, **socket));
  loop_->run();
  EXPECT_TRUE(loop_->io().quiescent());
}

TEST_P(idle_loop_test, each_piece_of_work_renews_the_spell) {
  open_idle({.spin_for = 100ms});
  if (IsSkipped()) return;
  loop_->spawn(stay(*loop_));
  constexpr int rounds = 250;
  std::thread friendly = correspondent(*loop_, rounds, 1ms);
  const long before = sleeps();
  loop_->run();
  friendly.join();
  EXPECT_LT(sleeps() - before, rounds / 4) << "it stopped spinning though there was work";
}

TEST_P(idle_loop_test, what_the_kernel_has_to_say_reaches_a_spinning_loop) {
  open_idle(idle_policy::spin());
  if (IsSkipped()) return;
  const int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSERT_GE(bell, 0);
  loop_->spawn([](event_loop& loop, int fd) -> task<void> {
    EXPECT_TRUE(co_await readable(loop, fd));
  }(*loop_, bell));
  std::thread ringer{[bell] {
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(::eventfd_write(bell, 1), 0);
  }};
  loop_->run();
  ringer.join();
  ::close(bell);
}

TEST_P(idle_loop_test, a_turn_that_may_not_wait_does_not_spin) {
  open_idle(idle_policy::spin());
  if (IsSkipped()) return;
  loop_->spawn(stay(*loop_));
  settle();  // would not come back
  loop_->run_once(std::chrono::steady_clock::now() + 1ms);
  EXPECT_EQ(loop_->turns(), 9U);
  loop_->request_stop();
  loop_->run();
}

TEST_F(idle_loop_in_memory_test, where_there_is_no_kernel_to_ask_nothing_spins) {
  loop_.reset();
  open({.backend = backend_kind::simulated, .idle = idle_policy::spin()});
  loop_->spawn(nap(*loop_, std::chrono::hours{1}));
  loop_->run();
}

class idle_loop_seeds_test
    : public loop_fixture,
      public ::testing::WithParamInterface<std::tuple<backend_kind, std::uint64_t>> {};
INSTANTIATE_TEST_SUITE_P(seeds, idle_loop_seeds_test,
                         ::testing::Combine(kernel_backends, ::testing::Range<std::uint64_t>(1, 9)),
                         [](const auto& each) {
                           return std::string{to_string(std::get<0>(each.param))} + "_" +
                                  std::to_string(std::get<1>(each.param));
                         });

/// Timers, letters and naps of random lengths around the spell of spinning: what is lost between
/// spinning and sleeping would never end.
TEST_P(idle_loop_seeds_test, nothing_is_lost_between_spinning_and_sleeping) {
  const auto [kind, seed] = GetParam();
  class random random{seed};
  const auto some_microseconds = [](class random& from, std::uint64_t limit) {
    return microseconds{static_cast<duration::rep>(from.below(limit))};
  };
  open({.backend = kind, .idle = {.spin_for = some_microseconds(random, 200)}});
  if (IsSkipped()) return;
  constexpr int sleepers = 4;
  constexpr int naps = 20;
  constexpr int letters = 300;
  int left = sleepers * naps + letters;
  const auto count_down = [&left, &loop = *loop_] {
    if (--left == 0) loop.request_stop();
  };
  loop_->spawn(stay(*loop_));
  for (int sleeper = 0; sleeper < sleepers; ++sleeper)
    loop_->spawn([](event_loop& loop, class random own, auto length, auto done) -> task<void> {
      for (int i = 0; i < naps; ++i) {
        co_await nap(loop, length(own, 2'000));
        done();
      }
    }(*loop_, weft::random{random.next()}, some_microseconds, count_down));
  std::thread writer{[&, own = weft::random{random.next()}]() mutable {
    for (int i = 0; i < letters; ++i) {
      std::this_thread::sleep_for(some_microseconds(own, 300));
      loop_->post(count_down);
    }
  }};
  loop_->run();
  writer.join();
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace weft
