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
  std::string name;
  std::vector<std::string> pieces;
  std::uint64_t requests = 1;
  bool begins_with_connection = false;  // which is made as for the others
};

std::vector<conversation> conversations_of_http1() {
  const std::string get_now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string get_late = "GET /late HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string get_pieces = "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n";
  return {
      {"now", {get_now, get_now}, 2},
      {"late", {get_late, get_now, get_late}, 3, true},
      {"pipelined", {get_now + get_late + get_now}, 3},
      {"a body", {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc", "def"}},
      {"a body in chunks",
       {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc",
        "\r\n3\r\ndef\r\n0\r\n\r\n"}},
      {"a body that the handler reads",
       {"POST /reads HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc", "def"}},
      {"a reply in pieces", {get_pieces, get_now}, 2},
      {"a handler that throws", {"GET /throws HTTP/1.1\r\nHost: a\r\n\r\n", get_late}, 2},
      {"nothing there", {"GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", get_now}, 2},
      {"no request", {"nonsense\r\n\r\n"}, 0},
      {"the end", {"GET /late HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"}},
  };
}

/// RFC 9113 section 4.1.
std::string frame(char type, char flags, char stream, std::string_view payload) {
  const auto size = static_cast<char>(payload.size());
  return std::string{'\0', '\0', size, type, flags, '\0', '\0', '\0', stream}.append(payload);
}

constexpr char data_frame = 0;
constexpr char head_frame = 1;
constexpr char reset_frame = 3;
constexpr char settings_frame = 4;
constexpr char window_frame = 8;
constexpr char last = 1;        // END_STREAM
constexpr char whole_head = 4;  // END_HEADERS

/// Fields that are in no table (RFC 7541 section 6.2.2) but for the static one.
std::string head(std::string_view method, std::string_view path) {
  std::string fields = "\x86";  // :scheme http
  const auto add = [&](char name, std::string_view text) {
    fields.append({name, static_cast<char>(text.size())}).append(text);
  };
  add('\x01', "a");     // :authority
  add('\x02', method);  // :method
  add('\x04', path);    // :path
  return fields;
}
std::string get(char stream, std::string_view path) {
  return frame(head_frame, last | whole_head, stream, head("GET", path));
}
std::string post(char stream, std::string_view path) {
  return frame(head_frame, whole_head, stream, head("POST", path));
}
std::string hello() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings_frame, 0, 0, ""); }
/// Lets streams have nothing until their windows are opened.
std::string hello_without_windows() {
  using namespace std::string_view_literals;
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
         frame(settings_frame, 0, 0, "\x00\x04\x00\x00\x00\x00"sv);
}
std::string open_window(char stream) {
  using namespace std::string_view_literals;
  return frame(window_frame, 0, stream, "\x00\x00\x10\x00"sv);
}

std::vector<conversation> conversations_of_http2() {
  using namespace std::string_view_literals;
  return {
      {"now", {hello() + get(1, "/now"), get(3, "/now")}, 2},
      {"late", {hello(), get(1, "/late"), get(3, "/now") + get(5, "/late")}, 3, true},
      {"a body",
       {hello() + post(1, "/echo"), frame(data_frame, 0, 1, "abc"),
        frame(data_frame, last, 1, "def")}},
      {"a body that the handler reads",
       {hello() + post(1, "/reads"), frame(data_frame, 0, 1, "abc"),
        frame(data_frame, last, 1, "def")}},
      {"a reply in pieces", {hello() + get(1, "/pieces"), get(3, "/now")}, 2},
      {"a reply that waits for its window",
       {hello_without_windows(), get(1, "/pieces") + get(3, "/late"),
        open_window(1) + open_window(3)},
       2},
      {"a handler that throws", {hello() + get(1, "/throws"), get(3, "/late")}, 2},
      {"a request that is given up",
       {hello() + post(1, "/reads") + get(3, "/late"), frame(reset_frame, 0, 1, "\0\0\0\x08"sv)},
       2},
      {"nothing there", {hello() + get(1, "/nowhere"), get(3, "/now")}, 2},
      {"no frame", {hello() + get(1, "/late") + "nonsense nonsense nonsense"}, 0},
  };
}

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
    const std::uint64_t whole = finished_ + said.requests;
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
      for (const std::string& piece :
           std::span{said.pieces}.subspan(where == from::request ? 1 : 0)) {
        co_await turns(6);
        co_await client->send(piece);
      }
      for (int i = 0; i < 5'000 && finished_ < whole && !here.has_failed(); ++i)
        co_await world().sleep(std::chrono::milliseconds{1});
      co_await turns(12);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // It was the client's.
    }
    co_return here.has_failed();
  }

  task<void> sweep(const conversation& said, from where, failing how) {
    bool has_failed = true;
    for (std::uint64_t nth = 1; has_failed && !HasFailure(); ++nth) {
      SCOPED_TRACE(said.name + ", allocation " + std::to_string(nth) +
                   (how == failing::once ? "" : " and all after it") +
                   (where == from::connect ? ", from the connection on" : ""));
      const std::uint64_t before = finished_;
      has_failed = co_await converse(said, where, nth, how);
      if (!has_failed) EXPECT_GE(finished_ - before, said.requests) << "with memory";
      co_await look();
    }
  }

  void sweep_all(const std::vector<conversation>& all) {
    if (!allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
    run([&]() -> task<void> {
      for (const conversation& each : all)
        for (const failing how : {failing::once, failing::for_good}) {
          if (each.begins_with_connection) co_await sweep(each, from::connect, how);
          co_await sweep(each, from::request, how);
        }
    });
    EXPECT_GT(finished_, 0U);
  }

  std::uint64_t finished_ = 0;
};
// Not the simulated one, which is the kernel, too.
INSTANTIATE_TEST_SUITE_P(on, allocation_sweep, ::testing::Values(backend_kind::epoll),
                         backend_name);

TEST_P(allocation_sweep, of_a_connection_ends_that_alone) { sweep_all(conversations_of_http1()); }
TEST_P(allocation_sweep, of_http2_ends_its_connection_alone) {
  sweep_all(conversations_of_http2());
}

}  // namespace
}  // namespace weft::http
