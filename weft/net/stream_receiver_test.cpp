#include <weft/net/stream_receiver.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/tls_fixture_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::net {
namespace {

using std::chrono::milliseconds;

/// Notes what it is given, and how often it is called.
class called_reader : private stream_receiver {
 public:
  explicit called_reader(tcp_stream& stream) noexcept
      : stream_receiver{&on_answer}, stream_{stream} {}

  /// True: it has the answer already.
  bool read() {
    outcome_.reset();
    if (!begin(stream_)) {
      ++calls_due_;
      return false;
    }
    outcome_.emplace(take(stream_));
    return true;
  }
  /// True: something had come.
  bool read_now() {
    outcome_.reset();
    if (!receive_now(stream_)) return false;
    outcome_.emplace(take(stream_));
    return true;
  }
  void cancel() noexcept { stream_receiver::cancel(stream_); }

  [[nodiscard]] bool is_answered() const noexcept { return outcome_.has_value(); }
  [[nodiscard]] std::string_view text() const {
    return is_answered() && outcome_->has_value() ? (*outcome_)->text() : std::string_view{};
  }
  [[nodiscard]] std::optional<errc> failure() const {
    if (!is_answered() || outcome_->has_value()) return std::nullopt;
    return outcome_->error().code();
  }
  /// Of the reads that did not have their answer at once.
  [[nodiscard]] int calls_due() const noexcept { return calls_due_; }

 private:
  static void on_answer(stream_receiver& self) noexcept {
    auto& reader = static_cast<called_reader&>(self);
    --reader.calls_due_;
    reader.outcome_.emplace(reader.take(reader.stream_));
  }

  tcp_stream& stream_;
  std::optional<result<buffer_ref>> outcome_;
  int calls_due_ = 0;
};

class stream_receiver_test : public tls_loopback {
 protected:
  /// With two ends in the clear, and then with two that are secured.
  template <class F>
  void run_with_each(F check) {
    run([&]() -> task<void> {
      {
        auto plain = co_await connected_pair(loop());
        co_await check(plain);
      }
      auto shaken = co_await shake_hands();
      if (!shaken.is_good()) co_return ADD_FAILURE();
      stream_pair secured{std::move(**shaken.client), std::move(**shaken.server)};
      co_await check(secured);
    });
  }
  task<void> answer_of(const called_reader& reader) {
    while (!reader.is_answered()) co_await yield{loop()};
    EXPECT_EQ(reader.calls_due(), 0);
  }
  /// What comes next, however that is told.
  task<void> read_with(called_reader& reader) {
    reader.read();
    co_await answer_of(reader);
  }
};
using stream_receiver_on_sockets_test = stream_receiver_test;

INSTANTIATE_TEST_SUITE_P(backends, stream_receiver_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, stream_receiver_on_sockets_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(stream_receiver_test, takes_what_has_come_without_waiting_for_more) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    called_reader reader{pair.server};
    EXPECT_TRUE((co_await pair.client.write("one")).has_value());
    co_await read_with(reader);
    EXPECT_EQ(reader.text(), "one");
    EXPECT_FALSE(reader.read_now());
    EXPECT_TRUE((co_await pair.client.write("two")).has_value());
    co_await turns(3);
    EXPECT_TRUE(reader.read_now());
    EXPECT_EQ(reader.text(), "two");
    EXPECT_FALSE(reader.read_now());
    EXPECT_FALSE(reader.read()) << "which goes on as if nobody had looked";
    EXPECT_TRUE((co_await pair.client.write("three")).has_value());
    co_await answer_of(reader);
    EXPECT_EQ(reader.text(), "three");
    EXPECT_TRUE((co_await pair.client.close()).has_value());
    co_await read_with(reader);
    EXPECT_EQ(reader.failure(), errc::closed);
  });
}

TEST_P(stream_receiver_test, is_called_with_what_comes_and_with_the_end) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    called_reader reader{pair.server};
    EXPECT_FALSE(reader.read());
    co_await turns(3);
    EXPECT_FALSE(reader.is_answered());
    EXPECT_TRUE((co_await pair.client.write("one")).has_value());
    co_await answer_of(reader);
    EXPECT_EQ(reader.text(), "one");
    EXPECT_TRUE((co_await pair.client.write("two")).has_value());
    co_await turns(3);
    co_await read_with(reader);
    EXPECT_EQ(reader.text(), "two");
    EXPECT_FALSE(reader.read());
    EXPECT_TRUE((co_await pair.client.close()).has_value());
    co_await answer_of(reader);
    EXPECT_EQ(reader.failure(), errc::closed);
    co_await turns(3);
    EXPECT_EQ(reader.calls_due(), 0) << "each wait has one call";
  });
}

TEST_P(stream_receiver_test, gives_all_bytes_in_order) {
  const std::string all = pattern(300'000);
  run_with_each([&](stream_pair& pair) -> task<void> {
    scope writers{co_await this_task::environment()};
    write_outcome writing;
    writers.spawn(write_once(pair.client, all, writing));
    called_reader reader{pair.server};
    std::string got;
    while (got.size() < all.size()) {
      co_await read_with(reader);
      if (reader.failure()) break;
      got += reader.text();
    }
    EXPECT_TRUE(got == all) << got.size();
    co_await writers.join();
    EXPECT_TRUE(writing.value.has_value());
  });
}

TEST_P(stream_receiver_test, begins_with_what_a_copying_read_left_over) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    EXPECT_TRUE((co_await pair.client.write("abcdef")).has_value());
    std::array<char, 2> few;
    EXPECT_EQ(co_await pair.server.read(few), 2U);
    called_reader reader{pair.server};
    EXPECT_TRUE(reader.read());
    EXPECT_EQ(reader.text(), "cdef");
  });
}

TEST_P(stream_receiver_test, takes_turns_with_coroutines) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    called_reader reader{pair.server};
    for (int i = 0; i < 3; ++i) {
      reader.read();
      EXPECT_TRUE((co_await pair.client.write("for it")).has_value());
      co_await answer_of(reader);
      EXPECT_EQ(reader.text(), "for it");
      EXPECT_TRUE((co_await pair.client.write("for a task")).has_value());
      EXPECT_EQ((co_await pair.server.read()).value().text(), "for a task");
    }
  });
}

TEST_P(stream_receiver_test, loses_no_byte_to_a_cancel_that_comes_later) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    called_reader reader{pair.server};
    for (unsigned order = 0; order < 12; ++order) {
      EXPECT_FALSE(reader.read());
      co_await turns(2);
      EXPECT_TRUE((co_await pair.client.write("precious")).has_value());
      for (unsigned i = 0; i < order; ++i) co_await yield{loop()};
      reader.cancel();
      co_await answer_of(reader);
      if (reader.failure()) {
        EXPECT_EQ(reader.failure(), errc::cancelled);
        co_await read_with(reader);
      }
      EXPECT_EQ(reader.text(), "precious");
    }
  });
}

TEST_P(stream_receiver_test, loses_no_byte_that_comes_after_a_cancel) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    called_reader reader{pair.server};
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(reader.read());
      co_await turns(2);
      reader.cancel();
      reader.cancel();
      EXPECT_FALSE(reader.is_answered()) << "not from within";
      EXPECT_TRUE((co_await pair.client.write("late")).has_value());
      co_await answer_of(reader);
      EXPECT_EQ(reader.failure(), errc::cancelled);
      reader.cancel();
      co_await read_with(reader);
      EXPECT_EQ(reader.text(), "late") << "a cancel of nothing is none of what comes next";
    }
  });
}

TEST_P(stream_receiver_on_sockets_test, waits_for_a_buffer_where_none_is_free) {
  run_with_each([&](stream_pair& pair) -> task<void> {
    called_reader reader{pair.server};
    EXPECT_FALSE(reader.read());
    co_await turns(2);
    std::vector<buffer_ref> taken;
    while (auto each = loop().buffers().acquire()) taken.push_back(std::move(each));
    const bool is_secured = pair.server.tls() != nullptr;
    // What has come takes this one, and none is left for the text.
    if (is_secured && GetParam() != backend_kind::io_uring) taken.pop_back();
    EXPECT_TRUE((co_await pair.client.write("at last")).has_value());
    for (int i = 0; i < 3; ++i) std::ignore = co_await sleep_for(loop(), milliseconds{2});
    if (is_secured || GetParam() != backend_kind::io_uring) {
      EXPECT_FALSE(reader.is_answered());
    }
    taken.clear();
    co_await answer_of(reader);
    EXPECT_EQ(reader.text(), "at last");
  });
}

TEST_P(stream_receiver_test, allocates_nothing) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    called_reader reader{pair.server};
    for (int i = 0; i < 2; ++i) {
      const testing::allocation_counter since;
      const std::size_t frames = frame_pool::live_frames();
      EXPECT_FALSE(reader.read());
      EXPECT_EQ(frame_pool::live_frames(), frames);
      reader.cancel();
      while (!reader.is_answered()) co_await yield{loop()};
      const std::uint64_t allocations = since.allocations();
      EXPECT_EQ(allocations, 0U) << "nor does to be called back";
    }
  });
}

TEST_P(stream_receiver_on_sockets_test, tells_a_reset_from_the_end) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    raw_socket peer = raw_socket::connected_to(listener->local_endpoint());
    auto accepted = co_await listener->accept();
    called_reader reader{*accepted};
    EXPECT_FALSE(reader.read());
    co_await turns(2);
    peer.reset();
    co_await answer_of(reader);
    EXPECT_EQ(reader.failure(), errc::reset);
  });
}

}  // namespace
}  // namespace weft::net
