// What the tests of streams and listeners share: a loop on each backend in turn, two ends of one
// connection, and the checks that nothing was left behind.
//
// Contract: run() starts a body as the loop's task and returns when all has ended; an exception
// that leaves the body fails the test. After each test the loop is destroyed, and descriptors and
// coroutine frames are counted.
//
//   TEST_P(tcp_stream, gives_what_was_sent) {
//     run([&]() -> task<void> {
//       auto [client, server] = co_await connected_pair(loop());
//       ...
//     });
//   }
#pragma once

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::net {

/// File descriptors this process has open.
inline std::size_t open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  std::size_t count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// Sets the soft limit of open files, and back at the end.
class descriptor_limit {
 public:
  explicit descriptor_limit(rlim_t soft) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit wanted{.rlim_cur = soft, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &wanted), 0)
        << "no limit of " << soft << " open files to be had";
  }
  descriptor_limit(const descriptor_limit&) = delete;
  descriptor_limit& operator=(const descriptor_limit&) = delete;
  ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A file descriptor of the test's own.
class raw_socket {
 public:
  explicit raw_socket(int fd) noexcept : fd_{fd} {}
  raw_socket(raw_socket&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  raw_socket& operator=(raw_socket&&) = delete;
  ~raw_socket() { close(); }

  static raw_socket open() { return raw_socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }
  static raw_socket connected_to(const endpoint& where) {
    raw_socket made = open();
    EXPECT_TRUE(made.connect(where));
    return made;
  }

  [[nodiscard]] bool connect(const endpoint& where) const {
    return ::connect(fd_, where.raw().get(), where.raw().size_bytes) == 0;
  }
  /// Closes with a reset instead of an end.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  void close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

struct stream_pair {
  tcp_stream client;
  tcp_stream server;
};

inline task<stream_pair> connected_pair(event_loop& loop) {
  auto listener = tcp_listener::bind(loop, endpoint::loopback(0));
  auto client = co_await tcp_stream::connect(loop, listener.value().local_endpoint());
  auto server = co_await listener->accept();
  co_return stream_pair{std::move(client.value()), std::move(server.value())};
}

/// `size_bytes` bytes in which no stretch repeats soon: a lost, doubled or misplaced byte shows.
inline std::string pattern(std::size_t size_bytes) {
  std::string bytes(size_bytes, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

/// Reads until the stream ends, or `size_bytes` have come.
inline task<std::string> read_up_to(tcp_stream& stream, std::size_t size_bytes) {
  std::string all;
  while (all.size() < size_bytes) {
    auto bytes = co_await stream.read();
    if (!bytes) break;
    all += bytes->text();
  }
  co_return all;
}

inline task<std::string> read_to_end(tcp_stream& stream) {
  return read_up_to(stream, ~std::size_t{0});
}

inline task<void> echo(tcp_stream stream) {
  while (auto bytes = co_await stream.read())
    if (!co_await stream.write(std::move(*bytes))) co_return;
}

/// What reading gave, for a test to look at while others run.
struct read_outcome {
  bool ended = false;
  std::optional<error> failure;
  std::string text;
};

inline errc code(const read_outcome& outcome) {
  return outcome.failure.value_or(error{errc::system}).code();
}

inline task<void> read_once(tcp_stream& stream, read_outcome& outcome) {
  auto bytes = co_await stream.read();
  outcome.ended = true;
  if (bytes)
    outcome.text = bytes->text();
  else
    outcome.failure = bytes.error();
}

struct write_outcome {
  bool ended = false;
  result<void> value;
};

inline task<void> write_once(tcp_stream& stream, std::string text, write_outcome& outcome) {
  outcome.value = co_await stream.write(std::move(text));
  outcome.ended = true;
}

inline task<void> flush_once(tcp_stream& stream, write_outcome& outcome) {
  outcome.value = co_await stream.flush();
  outcome.ended = true;
}

class loopback : public ::testing::TestWithParam<backend_kind> {
 protected:
  void SetUp() override {
    log::set_level(log::level::warning);
    frames_before_ = frame_pool::live_frames();
    descriptors_before_ = open_descriptors();
    make_loop({});
  }

  void TearDown() override {
    if (loop_ == nullptr) return;
    loop_.reset();
    EXPECT_EQ(frame_pool::live_frames(), frames_before_) << "frames left behind";
    EXPECT_EQ(open_descriptors(), descriptors_before_) << "descriptors left behind";
  }

  /// A loop other than the default one.
  void make_loop(loop_options options) {
    loop_.reset();
    options.backend = GetParam();
    auto made = event_loop::create(options);
    ASSERT_TRUE(made.has_value()) << "no loop on " << to_string(GetParam()) << ": "
                                  << made.error().message();
    loop_ = std::move(*made);
  }

  [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
  [[nodiscard]] bool in_memory() const noexcept { return GetParam() == backend_kind::simulated; }

  template <class F>
  void run(F body) {
    ASSERT_NE(loop_, nullptr);
    loop_->spawn(guarded(body()));
    loop_->run();
  }

  /// A turn or more for everyone else.
  task<void> turns(unsigned count) {
    for (; count > 0; --count) {
      const std::uint64_t now = loop_->turns();
      while (loop_->turns() == now) co_await yield{*loop_};
    }
  }

 private:
  static task<void> guarded(task<void> body) {
    try {
      co_await std::move(body);
    } catch (const std::exception& failure) {
      ADD_FAILURE() << "an exception left the test: " << failure.what();
    }
  }

  std::unique_ptr<event_loop> loop_;
  std::size_t frames_before_ = 0;
  std::size_t descriptors_before_ = 0;
};

inline std::string backend_name(const ::testing::TestParamInfo<backend_kind>& info) {
  return std::string{to_string(info.param)};
}

}  // namespace weft::net
