#include <weft/loop/event_loop.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

using outcome = std::optional<result<void>>;

/// A loop on one backend, and the check that nothing was left behind.
class loop_fixture : public testing::Test {
 protected:
  void open(loop_options options) {
    auto made = event_loop::create(options);
    if (!made && options.backend == backend_kind::io_uring)
      GTEST_SKIP() << "io_uring is not to be had here";
    ASSERT_TRUE(made) << made.error().message();
    loop_ = std::move(*made);
  }
  void TearDown() override {
    if (loop_ == nullptr) return;
    EXPECT_EQ(loop_->timers().armed_count(), 0U);
    loop_.reset();
    EXPECT_EQ(frame_pool::live_frames(), frames_before_);
  }

  /// Lets all that can run without waiting run.
  void settle() {
    for (int i = 0; i < 8; ++i) loop_->run_once(time_point::min());
  }

  std::size_t frames_before_ = frame_pool::live_frames();
  std::unique_ptr<event_loop> loop_;
};

/// Every backend.
class event_loop_test : public loop_fixture, public testing::WithParamInterface<backend_kind> {
 protected:
  void SetUp() override { open({.backend = GetParam()}); }
};
/// Those with file descriptors of the system, and other threads.
class event_loop_kernel_test : public event_loop_test {};
/// The one whose clock is exact.
class event_loop_time_test : public loop_fixture {
 protected:
  void SetUp() override { open({.backend = backend_kind::memory}); }
};

std::string backend_name(const testing::TestParamInfo<backend_kind>& info) {
  return std::string{to_string(info.param)};
}
INSTANTIATE_TEST_SUITE_P(backends, event_loop_test,
                         testing::Values(backend_kind::memory, backend_kind::epoll,
                                         backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, event_loop_kernel_test,
                         testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

task<void> note(std::vector<int>& order, int what) {
  order.push_back(what);
  co_return;
}

// Life.

TEST_P(event_loop_test, is_the_current_loop_of_its_thread) {
  EXPECT_EQ(&event_loop::current(), loop_.get());
}

TEST_P(event_loop_test, without_tasks_run_returns_at_once) {
  loop_->run();
  EXPECT_EQ(loop_->turns(), 0U);
}

TEST_P(event_loop_test, runs_tasks_by_band_and_then_in_order) {
  std::vector<int> order;
  loop_->spawn(note(order, 2));
  loop_->spawn(note(order, 3));
  loop_->spawn(note(order, 4), priority::idle);
  loop_->spawn(note(order, 1), priority::critical);
  EXPECT_TRUE(order.empty());
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST_P(event_loop_test, runs_again_after_it_has_finished) {
  std::vector<int> order;
  loop_->spawn(note(order, 1));
  loop_->run();
  loop_->spawn(note(order, 2));
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_P(event_loop_test, request_stop_reaches_every_task_and_what_inherits_the_root) {
  int stopped = 0;
  const auto wait = [](event_loop& loop, int& count) -> task<void> {
    co_await until_stopped{loop};
    ++count;
  };
  const auto own_scope = [](event_loop& loop, auto body, int& count) -> task<void> {
    scope own{loop.root()};
    own.spawn(body(loop, count));
    co_await own.join();
  };
  loop_->spawn(wait(*loop_, stopped));
  loop_->spawn(own_scope(*loop_, wait, stopped));
  settle();
  EXPECT_EQ(stopped, 0);
  loop_->request_stop();
  for (int turn = 0; turn < 100 && stopped < 2; ++turn) loop_->run_once(time_point::min());
  ASSERT_EQ(stopped, 2);
  loop_->run();
}

TEST_P(event_loop_test, an_exception_that_leaves_a_task_leaves_run) {
  bool sibling_stopped = false;
  loop_->spawn([](event_loop& loop, bool& flag) -> task<void> {
    co_await until_stopped{loop};
    flag = true;
  }(*loop_, sibling_stopped));
  loop_->spawn([]() -> task<void> {
    throw std::runtime_error{"a bug"};
    co_return;
  }());
  EXPECT_THROW(loop_->run(), std::runtime_error);
  EXPECT_TRUE(sibling_stopped);
}

TEST_P(event_loop_test, time_does_not_pass_within_a_turn_and_is_fresh_when_run_begins) {
  const time_point before =
      GetParam() == backend_kind::memory ? loop_->now() : std::chrono::steady_clock::now();
  loop_->spawn([](event_loop& loop, time_point started) -> task<void> {
    const time_point here = loop.now();
    EXPECT_GE(here, started) << "the time of an earlier turn";
    EXPECT_EQ(loop.now(), here);
    co_return;
  }(*loop_, before));
  loop_->run();
}

// The turn.

struct noting_timer : timer {
  noting_timer(std::vector<int>& o, int n) : timer{&fire}, order{o}, number{n} {}
  static void fire(timer& self) noexcept {
    auto& here = static_cast<noting_timer&>(self);
    here.order.push_back(here.number);
  }
  std::vector<int>& order;
  int number;
};

struct noting_flush : flushable {
  noting_flush(std::vector<int>& o, int n) : flushable{&on_flush}, order{o}, number{n} {}
  static void on_flush(flushable& self) noexcept {
    auto& here = static_cast<noting_flush&>(self);
    here.order.push_back(here.number);
    if (here.again > 0) {
      --here.again;
      event_loop::current().flush_later(here);
    }
  }
  std::vector<int>& order;
  int number;
  int again = 0;
};

TEST_P(event_loop_test, a_turn_goes_mailbox_ready_timers_flush) {
  std::vector<int> order;
  noting_timer due{order, 3};
  noting_flush dirty{order, 4};
  loop_->flush_later(dirty);
  loop_->flush_later(dirty);
  loop_->timers().arm(due, loop_->now());
  loop_->spawn(note(order, 2));
  loop_->post([&] { order.push_back(1); });
  loop_->run_once(time_point::min());
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(loop_->turns(), 1U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 4U);
}

TEST_P(event_loop_test, what_is_filled_while_flushing_waits_for_the_next_turn) {
  std::vector<int> order;
  noting_flush dirty{order, 1};
  dirty.again = 2;
  loop_->flush_later(dirty);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 1U);
  // Bytes wait, so that the loop must not.
  loop_->run_once(time_point::max());
  EXPECT_EQ(order.size(), 2U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 3U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 3U);
}

TEST_P(event_loop_test, every_step_of_a_turn_is_bounded) {
  loop_.reset();
  open({.backend = GetParam(),
        .messages_per_turn = 2,
        .resumptions_per_turn = 3,
        .timers_per_turn = 4});
  std::vector<int> letters;
  std::vector<int> tasks;
  std::vector<int> fired;
  std::deque<noting_timer> timers;
  for (int i = 0; i < 10; ++i) {
    loop_->post([&] { letters.push_back(1); });
    loop_->spawn(note(tasks, 1));
    loop_->timers().arm(timers.emplace_back(fired, 1), loop_->now());
  }
  loop_->run_once(time_point::max());
  EXPECT_EQ(letters.size(), 2U);
  EXPECT_EQ(tasks.size(), 3U);
  EXPECT_EQ(fired.size(), 4U);
  for (int turn = 0; turn < 4; ++turn) loop_->run_once(time_point::min());
  EXPECT_EQ(letters.size(), 10U);
  EXPECT_EQ(tasks.size(), 10U);
  EXPECT_EQ(fired.size(), 10U);
}

TEST_P(event_loop_test, yield_lets_others_have_their_turn) {
  std::vector<int> order;
  const auto twice = [](event_loop& loop, std::vector<int>& into, int what) -> task<void> {
    into.push_back(what);
    co_await yield{loop};
    into.push_back(what);
  };
  loop_->spawn(twice(*loop_, order, 1));
  loop_->spawn(twice(*loop_, order, 2));
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2, 1, 2}));
}

TEST_F(event_loop_time_test, a_task_with_answers_at_once_has_a_budget) {
  loop_.reset();
  open({.backend = backend_kind::memory, .answers_per_resumption = 10});
  int answers = 0;
  std::vector<int> seen;
  // The memory backend refuses descriptors at once, which is an answer like any other.
  loop_->spawn([](event_loop& loop, int& count) -> task<void> {
    for (; count < 100; ++count) EXPECT_EQ((co_await readable(loop, 0)).error(), errc::unsupported);
  }(*loop_, answers));
  loop_->spawn([](event_loop& loop, const int& count, std::vector<int>& into) -> task<void> {
    while (count < 100) {
      into.push_back(count);
      co_await yield{loop};
    }
  }(*loop_, answers, seen));
  loop_->run();
  ASSERT_GE(seen.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(seen[i], 9 + static_cast<int>(i) * 10);
}

// Posting.

TEST_P(event_loop_test, a_letter_from_the_loops_own_thread_runs_in_the_next_turn) {
  bool told = false;
  loop_->spawn([](event_loop& loop, bool& flag) -> task<void> {
    loop.post([&] { flag = true; });
    while (!flag) co_await yield{loop};
  }(*loop_, told));
  loop_->run();
  EXPECT_TRUE(told);
}

TEST_P(event_loop_kernel_test, a_letter_from_another_thread_wakes_a_sleeping_loop) {
  loop_->spawn([](event_loop& loop) -> task<void> { co_await until_stopped{loop}; }(*loop_));
  constexpr int rounds = 500;
  std::thread friendly{[&loop = *loop_] {
    std::binary_semaphore answered{0};
    for (int i = 0; i < rounds; ++i) {
      loop.post([&] { answered.release(); });
      EXPECT_TRUE(answered.try_acquire_for(seconds{60})) << "asleep in round " << i;
    }
    loop.post([&loop] { loop.request_stop(); });
  }};
  loop_->run();
  friendly.join();
  EXPECT_LT(loop_->turns(), 10U * rounds) << "it slept in between";
}

TEST_P(event_loop_kernel_test, letters_of_many_threads_all_arrive) {
  loop_->spawn([](event_loop& loop) -> task<void> { co_await until_stopped{loop}; }(*loop_));
  constexpr int writers = 3;
  constexpr int letters = 2'000;
  int received = 0;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&loop = *loop_, &received] {
      for (int i = 0; i < letters; ++i)
        loop.post([&] {
          if (++received == writers * letters) loop.request_stop();
        });
    });
  loop_->run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received, writers * letters);
}

// Sleeping.

TEST_P(event_loop_test, sleeps_no_shorter_than_asked) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    const time_point before = loop.now();
    EXPECT_TRUE(co_await sleep_for(loop, milliseconds{2}));
    EXPECT_GE(loop.now(), before + milliseconds{2});
  }(*loop_));
  loop_->run();
}

TEST_F(event_loop_time_test, sleeps_exactly_and_wakes_in_order_of_time) {
  std::vector<int> order;
  const auto sleeper = [](event_loop& loop, duration length, std::vector<int>& into,
                          int what) -> task<void> {
    const time_point before = loop.now();
    EXPECT_TRUE(co_await sleep_for(loop, length));
    EXPECT_EQ(loop.now(), before + length);
    into.push_back(what);
  };
  loop_->spawn(sleeper(*loop_, hours{24}, order, 4));
  loop_->spawn(sleeper(*loop_, milliseconds{5}, order, 2));
  loop_->spawn(sleeper(*loop_, milliseconds{5}, order, 3));
  loop_->spawn(sleeper(*loop_, milliseconds{1}, order, 1));
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST_F(event_loop_time_test, a_sleep_of_nothing_or_less_ends_in_the_next_turn) {
  const time_point before = loop_->now();
  loop_->spawn([](event_loop& loop) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(loop, duration::zero()));
    EXPECT_TRUE(co_await sleep_for(loop, -hours{1}));
    EXPECT_TRUE(co_await sleep_until(loop, time_point{}));
  }(*loop_));
  loop_->run();
  EXPECT_EQ(loop_->now(), before);
}

/// Sleeps in an environment with a deadline, if one is given, and in a scope of its own.
task<void> sleep_in(event_loop& loop, stop_token stop, deadline until, time_point when,
                    outcome& into) {
  const environment narrowed{.stop = stop, .until = until, .runs_on = &loop};
  into = co_await [](event_loop& inner, time_point at)
      -> task<result<void>> { co_return co_await sleep_until(inner, at); }(loop, when).in(narrowed);
}

TEST_F(event_loop_time_test, the_deadline_ends_a_sleep_only_if_it_comes_first) {
  const time_point start = loop_->now();
  outcome longer;
  outcome shorter;
  outcome equal;
  outcome over;
  const auto soon = deadline::at(start + milliseconds{10});
  loop_->spawn(sleep_in(*loop_, {}, soon, start + seconds{1}, longer));
  loop_->spawn(sleep_in(*loop_, {}, soon, start + milliseconds{9}, shorter));
  loop_->spawn(sleep_in(*loop_, {}, soon, soon.when(), equal));
  loop_->spawn(sleep_in(*loop_, {}, deadline::at(start - seconds{1}), start + seconds{1}, over));
  loop_->run();
  EXPECT_EQ(longer->error(), errc::timed_out);
  EXPECT_TRUE(shorter->has_value());
  EXPECT_TRUE(equal->has_value());
  EXPECT_EQ(over->error(), errc::timed_out);
  EXPECT_EQ(loop_->now(), start + milliseconds{10}) << "nobody waited for the long sleep";
}

TEST_F(event_loop_time_test, a_stop_ends_a_sleep_before_and_while_it_sleeps) {
  const time_point start = loop_->now();
  stop_source stop;
  outcome asleep;
  outcome late;
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, start + hours{1}, asleep));
  loop_->spawn([](event_loop& loop, stop_source& source, outcome& into) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(loop, milliseconds{10}));
    source.request_stop();
    co_await sleep_in(loop, source.token(), {}, loop.now() + hours{1}, into);
  }(*loop_, stop, late));
  loop_->run();
  EXPECT_EQ(asleep->error(), errc::cancelled);
  EXPECT_EQ(late->error(), errc::cancelled);
  EXPECT_EQ(loop_->now(), start + milliseconds{10});
}

/// The sleep's time and the stop come together; what came first decides.
TEST_F(event_loop_time_test, a_sleep_that_ended_before_the_stop_has_slept) {
  const time_point when = loop_->now() + milliseconds{10};
  stop_source stop;
  outcome stops_late;
  outcome stops_early;
  const auto stop_at = [](event_loop& loop, time_point at, stop_source& source) -> task<void> {
    EXPECT_TRUE(co_await sleep_until(loop, at));
    source.request_stop();
  };
  // Both timers fire in one turn, and then the stopper is resumed first: the sleeper is ready.
  loop_->spawn(stop_at(*loop_, when, stop));
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, when, stops_late));
  loop_->run();
  EXPECT_TRUE(stops_late->has_value());

  // Now the stopper is resumed before the sleeper's timer, due at the same time, has fired.
  loop_.reset();
  open({.backend = backend_kind::memory, .timers_per_turn = 1});
  stop_source other;
  const time_point again = loop_->now() + milliseconds{10};
  loop_->spawn(stop_at(*loop_, again, other));
  loop_->spawn(sleep_in(*loop_, other.token(), {}, again, stops_early));
  loop_->run();
  EXPECT_EQ(stops_early->error(), errc::cancelled);
}

TEST_F(event_loop_time_test, a_sleep_for_ever_ends_by_the_stop) {
  stop_source stop;
  outcome forever;
  outcome ages;
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, time_point::max(), forever));
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, loop_->now() + hours{24 * 365 * 50}, ages));
  loop_->spawn([](event_loop& loop, stop_source& source) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(loop, hours{24 * 365 * 20}));
    source.request_stop();
  }(*loop_, stop));
  loop_->run();
  EXPECT_EQ(forever->error(), errc::cancelled);
  EXPECT_EQ(ages->error(), errc::cancelled);
}

using event_loop_death_test = event_loop_time_test;

TEST_F(event_loop_death_test, waiting_for_nothing_is_a_deadlock) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        loop_->spawn([](event_loop& loop) -> task<void> {
          std::ignore = co_await sleep_until(loop, time_point::max());
        }(*loop_));
        loop_->run();
      },
      "deadlock");
}

TEST_F(event_loop_death_test, a_thread_has_one_loop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(std::ignore = event_loop::create({.backend = backend_kind::memory}),
               "one event loop at a time");
  loop_.reset();
  EXPECT_DEATH(std::ignore = event_loop::current(), "no event loop");
}

// Waiting for file descriptors.

class file {
 public:
  explicit file(int fd) : fd_{fd} { EXPECT_GE(fd, 0); }
  file(file&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  file& operator=(file&&) = delete;
  ~file() { close(); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void put(char c) const { EXPECT_EQ(::write(fd_, &c, 1), 1); }
  void take() const {
    char c = 0;
    EXPECT_EQ(::read(fd_, &c, 1), 1);
  }
  void count(std::uint64_t by) const { EXPECT_EQ(::write(fd_, &by, sizeof by), 8); }
  operator int() const { return fd_; }

 private:
  int fd_;
};

struct pipe_ends {
  file out;
  file in;
  static pipe_ends open() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
    return {file{ends[0]}, file{ends[1]}};
  }
  /// Writes until no more fits.
  void fill() const {
    const std::array<char, 4096> block{};
    while (::write(in, block.data(), block.size()) > 0) {}
    EXPECT_EQ(errno, EAGAIN);
  }
  void empty() const {
    std::array<char, 4096> block{};
    while (::read(out, block.data(), block.size()) > 0) {}
  }
};

task<void> watch(event_loop& loop, operation_kind direction, int fd, outcome& into) {
  into = co_await poll_wait{loop, direction, fd};
}
task<void> watch_in(event_loop& loop, environment env, operation_kind direction, int fd,
                    outcome& into) {
  co_await watch(loop, direction, fd, into).in(env);
}
constexpr auto to_read = operation_kind::readable;
constexpr auto to_write = operation_kind::writable;

class event_loop_descriptor_test : public event_loop_kernel_test {
 protected:
  void run_until(const outcome& answered) {
    const time_point give_up = std::chrono::steady_clock::now() + seconds{60};
    while (!answered && std::chrono::steady_clock::now() < give_up)
      loop_->run_once(time_point::min());
    ASSERT_TRUE(answered);
  }
};
INSTANTIATE_TEST_SUITE_P(backends, event_loop_descriptor_test,
                         testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(event_loop_descriptor_test, what_is_ready_is_answered) {
  const auto pipe = pipe_ends::open();
  pipe.in.put('x');
  outcome reads;
  outcome writes;
  loop_->spawn(watch(*loop_, to_read, pipe.out, reads));
  loop_->spawn(watch(*loop_, to_write, pipe.in, writes));
  loop_->run();
  EXPECT_TRUE(reads->has_value());
  EXPECT_TRUE(writes->has_value());
}

TEST_P(event_loop_descriptor_test, what_becomes_ready_is_answered_then_and_again) {
  const auto pipe = pipe_ends::open();
  for (int round = 0; round < 3; ++round) {
    outcome reads;
    loop_->spawn(watch(*loop_, to_read, pipe.out, reads));
    settle();
    EXPECT_FALSE(reads);
    pipe.in.put('x');
    run_until(reads);
    EXPECT_TRUE(reads->has_value());
    pipe.out.take();
  }
  pipe.fill();
  outcome writes;
  loop_->spawn(watch(*loop_, to_write, pipe.in, writes));
  settle();
  EXPECT_FALSE(writes);
  pipe.empty();
  run_until(writes);
  EXPECT_TRUE(writes->has_value());
}

TEST_P(event_loop_descriptor_test, another_thread_makes_it_ready) {
  const file event{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  outcome reads;
  loop_->spawn(watch(*loop_, to_read, event, reads));
  std::thread friendly{[&] { event.count(1); }};
  loop_->run();
  friendly.join();
  EXPECT_TRUE(reads->has_value());
}

TEST_P(event_loop_descriptor_test, the_end_of_the_other_side_is_an_answer) {
  auto pipe = pipe_ends::open();
  auto broken = pipe_ends::open();
  broken.fill();
  outcome reads;
  outcome writes;
  loop_->spawn(watch(*loop_, to_read, pipe.out, reads));
  loop_->spawn(watch(*loop_, to_write, broken.in, writes));
  settle();
  EXPECT_FALSE(reads);
  EXPECT_FALSE(writes);
  pipe.in.close();
  broken.out.close();
  loop_->run();
  EXPECT_TRUE(reads->has_value());
  EXPECT_TRUE(writes->has_value());
}

TEST_P(event_loop_descriptor_test, a_descriptor_has_a_waiter_each_way) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  const pipe_ends pair{file{ends[0]}, file{ends[1]}};
  pair.fill();
  outcome reads;
  outcome writes;
  loop_->spawn(watch(*loop_, to_read, pair.in, reads));
  loop_->spawn(watch(*loop_, to_write, pair.in, writes));
  settle();
  EXPECT_FALSE(reads);
  EXPECT_FALSE(writes);
  pair.empty();
  run_until(writes);
  EXPECT_FALSE(reads) << "only the writer has an answer";
  pair.out.put('x');
  run_until(reads);
  EXPECT_TRUE(writes->has_value());
  EXPECT_TRUE(reads->has_value());
}

TEST_P(event_loop_descriptor_test, many_descriptors_are_told_apart) {
  constexpr std::size_t count = 50;
  std::vector<file> events;
  std::array<outcome, count> answers;
  for (std::size_t i = 0; i < count; ++i) {
    events.emplace_back(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    loop_->spawn(watch(*loop_, to_read, events[i], answers[i]));
  }
  settle();
  for (std::size_t i = 1; i < count; i += 2) events[i].count(1);
  run_until(answers[count - 1]);
  settle();
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(answers[i].has_value(), i % 2 == 1) << i;
  for (std::size_t i = 0; i < count; i += 2) events[i].count(1);
  loop_->run();
  for (const outcome& answer : answers) EXPECT_TRUE(answer->has_value());
}

TEST_P(event_loop_descriptor_test, a_regular_file_is_always_ready) {
  const file regular{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
  outcome reads;
  outcome writes;
  loop_->spawn(watch(*loop_, to_read, regular, reads));
  loop_->spawn(watch(*loop_, to_write, regular, writes));
  loop_->run();
  EXPECT_TRUE(reads->has_value());
  EXPECT_TRUE(writes->has_value());
}

TEST_P(event_loop_descriptor_test, what_is_no_descriptor_fails) {
  const int gone = file{::eventfd(0, EFD_CLOEXEC)};
  outcome reads;
  loop_->spawn(watch(*loop_, to_read, gone, reads));
  loop_->run();
  EXPECT_EQ(reads->error().os_errno(), EBADF);
}

TEST_P(event_loop_descriptor_test, a_stop_before_and_during_the_wait_cancels_it) {
  const auto pipe = pipe_ends::open();
  stop_source stop;
  const environment stoppable{.stop = stop.token(), .until = {}, .runs_on = loop_.get()};
  outcome during;
  outcome before;
  loop_->spawn(watch_in(*loop_, stoppable, to_read, pipe.out, during));
  settle();
  stop.request_stop();
  loop_->spawn(watch_in(*loop_, stoppable, to_read, pipe.out, before));
  loop_->run();
  EXPECT_EQ(during->error(), errc::cancelled);
  EXPECT_EQ(before->error(), errc::cancelled);

  // The descriptor is free for the next waiter.
  outcome after;
  loop_->spawn(watch(*loop_, to_read, pipe.out, after));
  settle();
  EXPECT_FALSE(after);
  pipe.in.put('x');
  loop_->run();
  EXPECT_TRUE(after->has_value());
}

TEST_P(event_loop_descriptor_test, a_cancelled_reader_leaves_the_writer_alone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  const pipe_ends pair{file{ends[0]}, file{ends[1]}};
  pair.fill();
  stop_source stop;
  const environment stoppable{.stop = stop.token(), .until = {}, .runs_on = loop_.get()};
  outcome reads;
  outcome writes;
  loop_->spawn(watch_in(*loop_, stoppable, to_read, pair.in, reads));
  loop_->spawn(watch(*loop_, to_write, pair.in, writes));
  settle();
  stop.request_stop();
  run_until(reads);
  EXPECT_EQ(reads->error(), errc::cancelled);
  settle();
  EXPECT_FALSE(writes);
  pair.empty();
  loop_->run();
  EXPECT_TRUE(writes->has_value());
}

TEST_P(event_loop_descriptor_test, a_stop_that_races_readiness_gives_one_answer) {
  for (const bool ready_first : {true, false}) {
    const auto pipe = pipe_ends::open();
    stop_source stop;
    const environment stoppable{.stop = stop.token(), .until = {}, .runs_on = loop_.get()};
    outcome reads;
    loop_->spawn(watch_in(*loop_, stoppable, to_read, pipe.out, reads));
    settle();
    if (ready_first) pipe.in.put('x');
    stop.request_stop();
    if (!ready_first) pipe.in.put('x');
    loop_->run();
    ASSERT_TRUE(reads);
    EXPECT_TRUE(reads->has_value() || reads->error() == errc::cancelled);
    EXPECT_FALSE(stop.request_stop());
  }
}

TEST_P(event_loop_descriptor_test, an_answer_that_came_before_the_stop_stands) {
  const auto first = pipe_ends::open();
  const auto second = pipe_ends::open();
  stop_source stop;
  const environment stoppable{.stop = stop.token(), .until = {}, .runs_on = loop_.get()};
  outcome reads;
  loop_->spawn([](event_loop& loop, int fd, stop_source& source) -> task<void> {
    EXPECT_TRUE(co_await readable(loop, fd));
    source.request_stop();
  }(*loop_, first.out, stop));
  loop_->spawn(watch_in(*loop_, stoppable, to_read, second.out, reads));
  settle();
  // Both are answered by one call to the kernel, and the stopper is resumed first.
  first.in.put('x');
  second.in.put('x');
  loop_->run();
  EXPECT_TRUE(reads->has_value());
}

TEST_P(event_loop_descriptor_test, a_deadline_ends_the_wait) {
  const auto pipe = pipe_ends::open();
  outcome passed;
  outcome soon;
  const environment over{.stop = {}, .until = deadline::at(loop_->now()), .runs_on = loop_.get()};
  const environment near{
      .stop = {}, .until = deadline::at(loop_->now() + milliseconds{3}), .runs_on = loop_.get()};
  loop_->spawn(watch_in(*loop_, over, to_read, pipe.out, passed));
  loop_->spawn(watch_in(*loop_, near, to_read, pipe.out, soon));
  loop_->run();
  EXPECT_EQ(passed->error(), errc::timed_out);
  EXPECT_EQ(soon->error(), errc::timed_out);
}

TEST_P(event_loop_descriptor_test, of_stop_and_deadline_the_first_is_the_reason) {
  loop_.reset();
  open({.backend = GetParam(), .resumptions_per_turn = 1});
  const auto pipe = pipe_ends::open();
  stop_source stop;
  const environment both{.stop = stop.token(),
                         .until = deadline::at(loop_->now() + milliseconds{50}),
                         .runs_on = loop_.get()};
  outcome reads;
  loop_->spawn(watch_in(*loop_, both, to_read, pipe.out, reads));
  loop_->run_once(time_point::min());
  ASSERT_FALSE(reads);
  // The stop comes from a letter; its answer waits behind tasks, the first of which hogs the thread
  // until the deadline is over.
  loop_->post([&] { stop.request_stop(); });
  loop_->spawn([](time_point until) -> task<void> {
    while (std::chrono::steady_clock::now() <= until) {}
    co_return;
  }(both.until.when() + milliseconds{2}));
  std::vector<int> others;
  for (int i = 0; i < 5; ++i) loop_->spawn(note(others, i));
  loop_->run();
  EXPECT_EQ(reads->error(), errc::cancelled);
}

}  // namespace
}  // namespace weft
