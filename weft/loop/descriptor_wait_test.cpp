#include <weft/loop/sleep.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class held_descriptor {
 public:
  explicit held_descriptor(int fd) : fd_{fd} { EXPECT_GE(fd, 0); }
  held_descriptor(held_descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  held_descriptor& operator=(held_descriptor&&) = delete;
  ~held_descriptor() { close(); }
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
  held_descriptor out;
  held_descriptor in;
  static pipe_ends open() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
    return {held_descriptor{ends[0]}, held_descriptor{ends[1]}};
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

class descriptor_wait_test : public on_any_backend {
 protected:
  void run_until(const outcome& answered) {
    const time_point give_up = std::chrono::steady_clock::now() + seconds{60};
    while (!answered && std::chrono::steady_clock::now() < give_up)
      loop_->run_once(time_point::min());
    ASSERT_TRUE(answered);
  }
};
INSTANTIATE_TEST_SUITE_P(backends, descriptor_wait_test, kernel_backends, backend_name);

TEST_P(descriptor_wait_test, what_is_ready_is_answered) {
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

TEST_P(descriptor_wait_test, what_becomes_ready_is_answered_then_and_again) {
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

TEST_P(descriptor_wait_test, another_thread_makes_it_ready) {
  const held_descriptor event{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  outcome reads;
  loop_->spawn(watch(*loop_, to_read, event, reads));
  std::thread friendly{[&] { event.count(1); }};
  loop_->run();
  friendly.join();
  EXPECT_TRUE(reads->has_value());
}

TEST_P(descriptor_wait_test, the_end_of_the_other_side_is_an_answer) {
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

TEST_P(descriptor_wait_test, a_descriptor_has_a_waiter_each_way) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  const pipe_ends pair{held_descriptor{ends[0]}, held_descriptor{ends[1]}};
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

TEST_P(descriptor_wait_test, many_descriptors_are_told_apart) {
  constexpr std::size_t count = 50;
  std::vector<held_descriptor> events;
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

TEST_P(descriptor_wait_test, a_regular_file_is_always_ready) {
  const held_descriptor regular{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
  outcome reads;
  outcome writes;
  loop_->spawn(watch(*loop_, to_read, regular, reads));
  loop_->spawn(watch(*loop_, to_write, regular, writes));
  loop_->run();
  EXPECT_TRUE(reads->has_value());
  EXPECT_TRUE(writes->has_value());
}

TEST_P(descriptor_wait_test, what_is_no_descriptor_fails) {
  const int gone = held_descriptor{::eventfd(0, EFD_CLOEXEC)};
  outcome reads;
  loop_->spawn(watch(*loop_, to_read, gone, reads));
  loop_->run();
  EXPECT_EQ(reads->error().os_errno(), EBADF);
}

TEST_P(descriptor_wait_test, a_stop_before_and_during_the_wait_cancels_it) {
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

TEST_P(descriptor_wait_test, a_cancelled_reader_leaves_the_writer_alone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  const pipe_ends pair{held_descriptor{ends[0]}, held_descriptor{ends[1]}};
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

TEST_P(descriptor_wait_test, a_stop_that_races_readiness_gives_one_answer) {
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

TEST_P(descriptor_wait_test, an_answer_that_came_before_the_stop_stands) {
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

TEST_P(descriptor_wait_test, a_deadline_ends_the_wait) {
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

TEST_P(descriptor_wait_test, of_stop_and_deadline_the_first_is_the_reason) {
  for (const bool stop_first : {true, false}) {
    const auto pipe = pipe_ends::open();
    stop_source stop;
    const environment both{.stop = stop.token(),
                           .until = deadline::at(loop_->now() + hours{1}),
                           .runs_on = loop_.get()};
    outcome reads;
    loop_->spawn(watch_in(*loop_, both, to_read, pipe.out, reads));
    settle();
    ASSERT_FALSE(reads);
    // Both before the answer is delivered; the hour passes for the timers only.
    if (stop_first) stop.request_stop();
    loop_->timers().advance(both.until.when(), 1);
    stop.request_stop();
    loop_->run();
    EXPECT_EQ(reads->error(), stop_first ? errc::cancelled : errc::timed_out);
    loop_.reset();
    open({.backend = GetParam()});
  }
}

}  // namespace
}  // namespace weft
