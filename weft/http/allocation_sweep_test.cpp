// Memory runs out while a connection is served, at each allocation in turn, once and for good: that
// connection alone may end, nothing of it is left behind, and the next client is served.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/frame_pool.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/allocation_failure.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::allocation_failure;
using testing::allocation_failures;
using testing::backend_name;
using testing::each_backend;
using testing::failing;
using testing::http_client;

/// All blocks of this thread's frame_pool, so that it has to ask the system for the next of any
/// size.
class frame_hoard {
 public:
  frame_hoard() {
    for (std::size_t bytes = step; bytes <= largest; bytes += step) take_all(bytes);
  }
  frame_hoard(const frame_hoard&) = delete;
  frame_hoard& operator=(const frame_hoard&) = delete;
  ~frame_hoard() {
    for (const auto& [block, bytes] : taken_) frame_pool::deallocate(block, bytes);
    while (frame_pool::trim(1'000'000)) {}  // or the next would take these as well, and more
  }

 private:
  static constexpr std::size_t step = 16;
  static constexpr std::size_t largest = 4096;
  static constexpr std::size_t slab_bytes = 64 * 1024;

  /// Until a slab was cut to its end.
  void take_all(std::size_t bytes) {
    for (bool is_last = false; !is_last;) {
      const std::size_t held = frame_pool::held_bytes();
      void* const block = frame_pool::allocate(bytes);
      taken_.emplace_back(block, bytes);
      const bool was_cut = frame_pool::held_bytes() != held;
      const std::size_t at = reinterpret_cast<std::uintptr_t>(block) % slab_bytes;
      is_last = was_cut && at + 2 * bytes > slab_bytes;
    }
  }

  std::vector<std::pair<void*, std::size_t>> taken_;
};

/// From where on memory is short.
enum class from : std::uint8_t { connect, request };

struct conversation {
  std::string_view name;
  std::vector<std::string_view> pieces;
  std::vector<from> places{from::request};
};

constexpr std::string_view get_now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view get_late = "GET /late HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view get_pieces = "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n";

const std::array conversations{
    conversation{"now", {get_now, get_now}},
    conversation{"late", {get_late, get_now, get_late}, {from::connect, from::request}},
    conversation{"pipelined",
                 {"GET /now HTTP/1.1\r\nHost: a\r\n\r\nGET /late HTTP/1.1\r\nHost: a\r\n\r\n"
                  "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"}},
    conversation{"a body",
                 {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc", "def"}},
    conversation{"a body in chunks",
                 {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc",
                  "\r\n3\r\ndef\r\n0\r\n\r\n"}},
    conversation{"a body that the handler reads",
                 {"POST /reads HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc", "def"}},
    conversation{"a reply in pieces", {get_pieces, get_now}},
    conversation{"a handler that throws", {"GET /throws HTTP/1.1\r\nHost: a\r\n\r\n", get_late}},
    conversation{"nothing there", {"GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", get_now}},
    conversation{"no request", {"nonsense\r\n\r\n"}},
    conversation{"the end", {"GET /late HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"}},
};

class allocation_sweep : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    event_loop& turning = loop();
    http().get("/now", [] { return "now"; });
    http().get("/late", [&turning]() -> task<std::string> {
      co_await yield{turning};
      co_return "late";
    });
    http().post("/echo", [&turning](const request& r) -> task<std::string> {
      co_await yield{turning};
      co_return std::string{r.body()};
    });
    http().post("/reads", [](body_reader& in) -> task<std::string> {
      std::string all;
      for (;;) {
        const auto piece = co_await in.read();
        if (!piece || piece->empty()) break;
        all += *piece;
      }
      co_return all;
    });
    http().get("/pieces", [](body_writer& out) -> task<result<void>> {
      for (int i = 0; i < 3; ++i)
        if (const auto written = co_await out.write("a piece of a reply"); !written)
          co_return written;
      co_return result<void>{};
    });
    http().get("/throws", [&turning]() -> task<std::string> {
      co_await yield{turning};
      throw std::runtime_error{"on purpose"};
    });
    http().wrap_all(
        [this](exchange& e, handler& next) { e.run_then(next, [this] { ++finished_; }); });
    http().wrap_all([](exchange& e, handler& next) -> task<void> { co_await e.run(next); });
  }

  task<void> turns(int count) {
    for (; count > 0; --count) co_await yield{loop()};
  }

  /// The next client is served, and none of the others is left.
  task<void> look() {
    {
      auto next = co_await world().connect();
      EXPECT_EQ((co_await next.ask("GET", "/late")).body, "late");
      EXPECT_EQ((co_await next.ask("GET", "/now")).body, "now");
    }
    for (int i = 0; i < 5'000 && http().connections() != 0; ++i)
      co_await world().sleep(std::chrono::milliseconds{1});
    EXPECT_EQ(http().connections(), 0U) << "a connection is left behind";
  }

  /// Whether an allocation has failed.
  task<bool> converse(const conversation& said, from where, std::uint64_t nth, failing how) {
    std::optional<http_client> client;
    if (where == from::request) {
      client.emplace(co_await world().connect());
      co_await turns(4);
      co_await client->send(said.pieces.front());
    }
    const frame_hoard all;
    const allocation_failures here{nth, how};
    try {
      if (!client) client.emplace(co_await world().connect());
      for (const std::string_view piece :
           std::span{said.pieces}.subspan(where == from::request ? 1 : 0)) {
        co_await turns(6);
        co_await client->send(piece);
      }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // It was the client's.
    }
    co_await turns(12);
    co_return here.has_failed();
  }

  template <class Converse>
  task<void> sweep(std::string_view name, std::vector<from> places, Converse converse) {
    for (const from where : places)
      for (const failing how : {failing::once, failing::for_good}) {
        bool has_failed = true;
        for (std::uint64_t nth = 1; has_failed; ++nth) {
          SCOPED_TRACE(std::string{name} + ", allocation " + std::to_string(nth) +
                       (how == failing::once ? "" : " and all after it") +
                       (where == from::connect ? ", from the connection on" : ""));
          has_failed = co_await converse(where, nth, how);
          co_await look();
          if (HasFailure()) co_return;
        }
      }
  }

  std::uint64_t finished_ = 0;
};
// Not the simulated one, which is the kernel, too.
INSTANTIATE_TEST_SUITE_P(on, allocation_sweep, ::testing::Values(backend_kind::epoll),
                         backend_name);

TEST_P(allocation_sweep, of_a_connection_ends_that_alone) {
  if (!allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  run([&]() -> task<void> {
    for (const conversation& each : conversations) {
      co_await sweep(each.name, {from::connect, from::request},
                     [&](from where, std::uint64_t nth, failing how) {
                       return converse(each, where, nth, how);
                     });
      if (HasFailure()) co_return;
    }
  });
  EXPECT_GT(finished_, 0U);
}

}  // namespace
}  // namespace weft::http
