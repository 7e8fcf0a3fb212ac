// The names of operations and buffers that are left, kind by kind, on every backend that has them.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/format.hpp>
#include <weft/loop/file_operation.hpp>
#include <weft/loop/leftovers.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/loop/socket_calls.hpp>
#include <weft/loop/wait.hpp>

namespace weft {
namespace {

/// Awaitable: any operation, as it has been set up.
template <class Operation>
class wait_of final : public operation_awaiter<Operation> {
 public:
  template <class... Arguments>
  explicit wait_of(event_loop& loop, Arguments... arguments) noexcept
      : operation_awaiter<Operation>{loop, arguments...} {}
  Operation& asked() noexcept { return this->operation_; }
  [[nodiscard]] Operation* await_resume() noexcept { return &this->operation_; }
};

raw_address loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  raw_address raw;
  std::memcpy(&raw.storage, &address, sizeof address);
  raw.size_bytes = sizeof address;
  return raw;
}

class left_behind_test : public on_any_backend {
 protected:
  void TearDown() override {
    if (loop_ != nullptr) {
      loop_->request_stop();
      loop_->run();
      EXPECT_EQ(names(), std::vector<std::string>{});
    }
    on_any_backend::TearDown();
  }

  /// The lines that name operations and buffers.
  std::vector<std::string> names() {
    std::vector<std::string> lines = leftovers(*loop_);
    std::erase_if(lines, [](const std::string& line) {
      return !line.starts_with("  ") || (line.find(" operation") == std::string::npos &&
                                         line.find(" buffer") == std::string::npos);
    });
    return lines;
  }

  /// Simulated sockets have no descriptor but a number of their own.
  std::string one(std::string_view what, const descriptor& of) {
    if (of.fd >= 0) return weft::format("  1 operation: {} of descriptor {}", what, of.fd);
    for (const std::string& line : names())
      if (line.starts_with(weft::format("  1 operation: {} of descriptor ", what))) return line;
    return "no such line";
  }

  descriptor& listen(int backlog = 16) {
    return **loop_->io().listen(loopback(), {.backlog = backlog});
  }

  struct pair {
    descriptor* near = nullptr;
    descriptor* far = nullptr;
  };
  pair connected() {
    pair made;
    descriptor& listener = listen();
    loop_->spawn([](event_loop& loop, descriptor& at, pair& into) -> task<void> {
      const raw_address to = *loop.io().local_address(at);
      into.near = *loop.io().open_stream(AF_INET);
      const auto* asked =
          co_await wait_of<connect_operation>{loop, into.near, to.get(), to.size_bytes};
      EXPECT_EQ(asked->result, 0);
    }(*loop_, listener, made));
    loop_->spawn([](event_loop& loop, descriptor& at, pair& into) -> task<void> {
      const auto* asked = co_await wait_of<accept_operation>{loop, &at};
      into.far = asked->accepted;
    }(*loop_, listener, made));
    loop_->run();
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(backends, left_behind_test, every_backend, backend_name);

TEST_P(left_behind_test, an_accept) {
  descriptor& listener = listen();
  loop_->spawn([](event_loop& loop, descriptor& at) -> task<void> {
    std::ignore = co_await wait_of<accept_operation>{loop, &at};
  }(*loop_, listener));
  settle();
  EXPECT_EQ(names(), std::vector{one("accept", listener)});
}

TEST_P(left_behind_test, a_receive) {
  const pair ends = connected();
  ASSERT_NE(ends.far, nullptr);
  loop_->spawn([](event_loop& loop, descriptor& at) -> task<void> {
    std::ignore = co_await wait_of<receive_operation>{loop, &at};
  }(*loop_, *ends.far));
  settle();
  EXPECT_EQ(names(), std::vector{one("receive", *ends.far)});
}

TEST_P(left_behind_test, a_send_for_which_the_peer_has_no_room) {
  const pair ends = connected();
  ASSERT_NE(ends.far, nullptr);
  const std::string bytes(1U << 20U, 'x');
  loop_->spawn([](event_loop& loop, descriptor& to, const std::string& all) -> task<void> {
    for (int sent = 1; sent > 0;) {
      wait_of<send_operation> next{loop, &to};
      next.asked().data = all.data();
      next.asked().size = all.size();
      const auto* asked = co_await next;
      sent = asked->result;
    }
  }(*loop_, *ends.near, bytes));
  for (int i = 0; i < 100; ++i) settle();
  EXPECT_EQ(names(), std::vector{one("send", *ends.near)});
}

TEST_P(left_behind_test, a_receive_of_datagrams) {
  const raw_address here = loopback();
  descriptor& socket = **loop_->io().open_datagram(AF_INET, {.local = &here});
  std::array<datagram, 1> room;
  loop_->spawn([](event_loop& loop, descriptor& at, std::span<datagram> into) -> task<void> {
    std::ignore = co_await wait_of<receive_datagrams_operation>{loop, &at, into};
  }(*loop_, socket, room));
  settle();
  EXPECT_EQ(names(), std::vector{one("receive of datagrams", socket)});
}

TEST_P(left_behind_test, buffers_that_the_program_holds) {
  std::array held{loop_->buffers().acquire(), loop_->buffers().acquire()};
  std::vector<std::uint32_t> slots = loop_->buffers().slots_in_use();
  std::vector<std::string> told = names();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("  2 buffers of 16384 bytes that the program holds: slots "))
      << told[0];
  held[1].reset();
  told = names();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("  1 buffer of 16384 bytes that the program holds: slot "))
      << told[0];
  held[0].reset();
}

/// What only kernels do: files that are not sockets of the loop.
class left_behind_in_kernel_test : public left_behind_test {};

INSTANTIATE_TEST_SUITE_P(backends, left_behind_in_kernel_test, kernel_backends, backend_name);

TEST_P(left_behind_in_kernel_test, waits_for_files) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  while (::write(ends[1], "full", 4) > 0) {}
  std::array<int, 2> empty{};
  ASSERT_EQ(::pipe(empty.data()), 0);
  loop_->spawn([](event_loop& loop, int fd) -> task<void> {
    std::ignore = co_await writable(loop, fd);
  }(*loop_, ends[1]));
  settle();
  EXPECT_EQ(names(),
            std::vector{weft::format("  1 operation: wait for room of descriptor {}", ends[1])});
  loop_->spawn([](event_loop& loop, int fd) -> task<void> {
    std::ignore = co_await readable(loop, fd);
  }(*loop_, empty[0]));
  settle();
  const std::vector<std::string> told = names();
  EXPECT_EQ(told.size(), 2U);
  EXPECT_TRUE(std::ranges::contains(
      told, weft::format("  1 operation: wait for input of descriptor {}", empty[0])));
  loop_->request_stop();
  loop_->run();
  for (const int fd : {ends[0], ends[1], empty[0], empty[1]}) ::close(fd);
}

TEST_P(left_behind_in_kernel_test, connects_that_nobody_answers) {
  descriptor& listener = listen(1);
  for (int i = 0; i < 6; ++i)
    loop_->spawn([](event_loop& loop, descriptor& at) -> task<void> {
      const raw_address to = *loop.io().local_address(at);
      descriptor& socket = **loop.io().open_stream(AF_INET);
      std::ignore = co_await wait_of<connect_operation>{loop, &socket, to.get(), to.size_bytes};
    }(*loop_, listener));
  for (int i = 0; i < 10; ++i) settle();
  const std::vector<std::string> told = names();
  EXPECT_FALSE(told.empty()) << "a line of one holds two";
  for (const std::string& line : told)
    EXPECT_TRUE(line.starts_with("  1 operation: connect of descriptor ")) << line;
}

TEST_P(left_behind_in_kernel_test, a_file_that_does_not_open) {
  std::string folder = "/tmp/weft_leftovers_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int opened = -1;
  loop_->spawn([](event_loop& loop, const std::string& at, int& into) -> task<void> {
    wait_of<file_operation> opening{loop, file_action::open};
    opening.asked().path = at.c_str();
    // With O_CREAT io_uring does not try it without waiting first, which a FIFO would allow.
    opening.asked().flags = O_RDONLY | O_CREAT;
    opening.asked().mode = 0600;
    const auto* asked = co_await opening;
    into = asked->result;
  }(*loop_, path, opened));
  settle();
  EXPECT_EQ(names(), std::vector<std::string>{"  1 operation: file operation"});
  const int writer = ::open(path.c_str(), O_WRONLY);
  loop_->run();
  EXPECT_GE(opened, 0);
  ::close(opened);
  ::close(writer);
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
}

class left_behind_in_ring_test : public left_behind_test {};

INSTANTIATE_TEST_SUITE_P(backends, left_behind_in_ring_test,
                         ::testing::Values(backend_kind::io_uring), backend_name);

/// Only there does input come that nobody has asked for yet.
TEST_P(left_behind_in_ring_test, input_that_nobody_reads) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  descriptor& near = **loop_->io().adopt(std::make_unique<loose_file>(ends[0]));
  ASSERT_EQ(::write(ends[1], "once", 4), 4);
  loop_->spawn([](event_loop& loop, descriptor& at) -> task<void> {
    std::ignore = co_await wait_of<receive_operation>{loop, &at};
  }(*loop_, near));
  settle();
  ASSERT_EQ(::write(ends[1], "again", 5), 5);
  settle();
  const std::vector<std::string> told = names();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with(
      weft::format("  1 buffer of 16384 bytes with unread input of descriptor {}: slot ", near.fd)))
      << told[0];
  loop_->io().abandon(near);
  EXPECT_EQ(names().back(), weft::format("  1 operation: close of descriptor {}", near.fd));
  loop_->run();
  ::close(ends[1]);
}

}  // namespace
}  // namespace weft
