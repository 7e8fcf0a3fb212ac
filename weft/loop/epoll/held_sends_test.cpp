#include <weft/loop/epoll/held_sends.hpp>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <weft/loop/epoll/epoll_backend.hpp>
#include <weft/loop/socket_calls.hpp>

namespace weft {
namespace {

/// A socket of the backend's, and its other end.
struct held_sends_pair {
  descriptor* own = nullptr;
  int own_fd = -1;
  int peer = -1;

  [[nodiscard]] std::string received() const {
    std::array<char, 64> bytes;
    const ssize_t got = ::recv(peer, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string{};
  }
  /// What the backend has not seen yet: there is no room for another byte.
  void fill() const {
    const std::vector<char> many(65536);
    while (::send(own_fd, many.data(), many.size(), MSG_DONTWAIT) > 0) {}
  }
};

struct held_sends_test : ::testing::Test {
  held_sends_test() {
    io = std::move(*make_epoll_backend({.ready = ready, .buffers = buffers}));
    for (held_sends_pair& each : pairs) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
      each.own_fd = ends[0];
      each.peer = ends[1];
      each.own = *io->adopt(std::make_unique<loose_file>(ends[0]));
      sends.push_back(std::make_unique<send_operation>(each.own, [](operation&) noexcept {}));
      sends.back()->data = "hello";
      sends.back()->size = 5;
    }
  }
  ~held_sends_test() override {
    run_ready();
    for (const held_sends_pair& each : pairs) {
      io->abandon(*each.own);
      ::close(each.peer);
    }
  }

  struct other_work : runnable {
    other_work() : runnable{[](runnable&) noexcept {}} {}
  };

  bool start(std::size_t which) {
    sends[which]->pending = true;
    return io->start(*sends[which]);
  }
  void run_ready() {
    while (runnable* const each = ready.pop()) each->run(*each);
  }

  ready_queue ready;
  buffer_pool buffers;
  std::unique_ptr<backend> io;
  std::array<held_sends_pair, held_sends::size_max> pairs;
  std::vector<std::unique_ptr<send_operation>> sends;
  other_work other;
};

TEST_F(held_sends_test, nobody_waits_where_nothing_else_is_ready) {
  EXPECT_TRUE(start(0));
  EXPECT_EQ(sends[0]->result, 5);
  EXPECT_EQ(pairs[0].received(), "hello");
}

TEST_F(held_sends_test, they_leave_when_the_turn_ends) {
  ready.push(other, priority::normal);
  EXPECT_FALSE(start(0));
  EXPECT_FALSE(start(1));
  EXPECT_EQ(pairs[0].received(), "");
  EXPECT_FALSE(io->quiescent());
  EXPECT_EQ(io->waiting_operations().size(), 2U);
  run_ready();
  io->enter(time_point::max());  // would wait for ever, had they not been answered
  EXPECT_EQ(pairs[0].received(), "hello");
  EXPECT_EQ(pairs[1].received(), "hello");
  EXPECT_TRUE(sends[0]->pending);
  run_ready();
  EXPECT_FALSE(sends[0]->pending);
  EXPECT_EQ(sends[0]->result, 5);
  EXPECT_TRUE(io->quiescent());
}

TEST_F(held_sends_test, no_more_wait_than_there_is_room_for) {
  ready.push(other, priority::normal);
  for (std::size_t i = 0; i < held_sends::size_max - 1; ++i) EXPECT_FALSE(start(i));
  EXPECT_EQ(pairs[0].received(), "");
  EXPECT_FALSE(start(held_sends::size_max - 1));
  for (const held_sends_pair& each : pairs) EXPECT_EQ(each.received(), "hello");
}

TEST_F(held_sends_test, give_their_buffers_back_before_others_want_some) {
  ready.push(other, priority::normal);
  for (std::size_t i = 0; i < held_sends::size_max; ++i) EXPECT_FALSE(start(i));
  for (const auto& send : sends) EXPECT_EQ(ready.pop(), send.get());
  EXPECT_EQ(ready.pop(), &other);
  for (const auto& send : sends) send->run(*send);
}

TEST_F(held_sends_test, what_was_cancelled_meanwhile_is_sent_if_it_can_be) {
  ready.push(other, priority::normal);
  pairs[1].fill();
  for (const std::size_t which : {0U, 1U}) {
    EXPECT_FALSE(start(which));
    io->cancel(*sends[which]);
  }
  io->enter(time_point::min());
  run_ready();
  EXPECT_EQ(sends[0]->result, 5);
  EXPECT_EQ(pairs[0].received(), "hello");
  EXPECT_EQ(sends[1]->result, -ECANCELED);
  EXPECT_TRUE(io->quiescent());
}

TEST_F(held_sends_test, who_finds_no_room_waits_for_it) {
  ready.push(other, priority::normal);
  pairs[0].fill();
  EXPECT_FALSE(start(0));
  io->enter(time_point::min());
  run_ready();
  EXPECT_TRUE(sends[0]->pending);
  while (!pairs[0].received().empty()) {}
  while (sends[0]->pending) {
    io->enter(time_point::max());
    run_ready();
  }
  EXPECT_EQ(sends[0]->result, 5);
}

}  // namespace
}  // namespace weft
