// A loop that is run by another one, turn by turn: what a toolkit with a main loop of its own does.
#include <weft/loop/event_loop.hpp>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class foreign_loop_test : public on_any_backend {
 protected:
  /// What the other loop does: polls its own descriptors together with this one's, and gives it a
  /// turn when it wants one. True: the loop has finished; false: it slept for ever.
  bool drive(int own = -1) {
    for (;;) {
      loop_->run_once(time_point::min());
      if (loop_->finished()) return true;
      pollfd watched[] = {{.fd = loop_->fd(), .events = POLLIN, .revents = 0},
                          {.fd = own, .events = POLLIN, .revents = 0}};
      const int answers = ::poll(watched, 2, milliseconds_left());
      EXPECT_GE(answers, 0);
      if (answers == 0 && loop_->next_due() == time_point::max()) return false;
      if ((watched[1].revents & POLLIN) != 0) {
        eventfd_t value = 0;
        ::eventfd_read(own, &value);
        ++own_events_;
      }
      ++polls_;
    }
  }

  int milliseconds_left() {
    const time_point due = loop_->next_due();
    if (due == time_point::min()) return 0;
    if (due == time_point::max()) return 60'000;
    const auto left = due - std::chrono::steady_clock::now();
    return std::max(0,
                    static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
  }

  int polls_ = 0;
  int own_events_ = 0;
};
INSTANTIATE_TEST_SUITE_P(backends, foreign_loop_test, ::testing::Values(backend_kind::epoll),
                         backend_name);

TEST_P(foreign_loop_test, tells_when_its_timers_are_due) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(co_await sleep_for(loop, 10ms));
  }(*loop_));
  EXPECT_TRUE(drive());
  EXPECT_LT(polls_, 50) << "it is asked again and again";
}

TEST_P(foreign_loop_test, can_be_polled_for_what_the_kernel_answers) {
  const int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  loop_->spawn([](event_loop& loop, int fd) -> task<void> {
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(co_await readable(loop, fd));
      eventfd_t value = 0;
      EXPECT_EQ(::eventfd_read(fd, &value), 0);
    }
  }(*loop_, bell));
  std::atomic<bool> over{false};
  std::thread ringer{[&] {
    while (!over) {
      std::this_thread::sleep_for(1ms);
      ::eventfd_write(bell, 1);
    }
  }};
  EXPECT_TRUE(drive());
  over = true;
  ringer.join();
  ::close(bell);
}

TEST_P(foreign_loop_test, can_be_polled_for_letters_and_the_other_loop_goes_on) {
  loop_->spawn([](event_loop& loop) -> task<void> { co_await until_stopped{loop}; }(*loop_));
  const int own = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int letters = 0;
  std::thread writer{[&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(loop_->post([&letters] { ++letters; }));
      if (i % 10 == 0) ::eventfd_write(own, 1);
      std::this_thread::sleep_for(100us);
    }
    loop_->post_stop();
  }};
  EXPECT_TRUE(drive(own));
  writer.join();
  EXPECT_EQ(letters, 100);
  EXPECT_GE(own_events_, 1);
  ::close(own);
}

TEST_P(foreign_loop_test, wants_a_turn_at_once_while_something_can_run) {
  EXPECT_EQ(loop_->next_due(), time_point::max());
  loop_->spawn([](event_loop& loop) -> task<void> {
    for (int i = 0; i < 3; ++i) co_await yield{loop};
  }(*loop_));
  EXPECT_EQ(loop_->next_due(), time_point::min());
  loop_->run();
  EXPECT_TRUE(loop_->post([] {}));
  EXPECT_EQ(loop_->next_due(), time_point::min());
  loop_->run_once(time_point::min());
  EXPECT_EQ(loop_->next_due(), time_point::max());
}

TEST_P(foreign_loop_test, may_end_though_nobody_asked_what_a_task_threw) {
  loop_->spawn([]() -> task<void> {
    throw std::runtime_error{"unheard"};
    co_return;
  }());
  while (!loop_->finished()) loop_->run_once(time_point::min());
  loop_.reset();
}

}  // namespace
}  // namespace weft
