// The gate: a warm request on a kept connection allocates nothing, and an idle connection is small.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/access_log.hpp>
#include <weft/http/cors.hpp>
#include <weft/http/http2/frame.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/request_deadlines.hpp>
#include <weft/http/server_timing.hpp>
#include <weft/http/trace_requests.hpp>
#include <weft/testing/allocation_counter.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::allocation_counter;
using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_client;
using testing::repeated;

struct warm_ping {
  std::int64_t sequence = 0;
};
struct warm_key {
  std::int64_t id = 0;
};
struct warm_search {
  std::optional<std::string> word;
  std::optional<std::uint32_t> limit;
};

/// AddressSanitizer builds take every coroutine frame from the heap, to see its misuse.
bool frames_are_pooled() {
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  const allocation_counter since;
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  return since.allocations() == 0;
}

class warm_path : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    if (!frames_are_pooled()) GTEST_SKIP() << "frames come from the heap in this build";
  }

  /// Asks `count` times, at most `at_once` at a time, and allocates nothing itself.
  static task<std::size_t> ask(http_client& client, std::string_view requests,
                               std::size_t reply_bytes, int count) {
    std::size_t received = 0;
    for (; count > 0; --count) {
      if (!co_await client.stream().write(requests)) break;
      for (std::size_t left = reply_bytes; left > 0;) {
        const auto bytes = co_await client.stream().read();
        if (!bytes) co_return received;
        left -= std::min(left, bytes->size());
        received += bytes->size();
      }
    }
    co_return received;
  }

  void expect_no_allocation(std::string_view requests) {
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      co_await client.send(requests);
      const std::size_t replies_bytes = (co_await client.receive()).size();
      EXPECT_EQ(co_await ask(client, requests, replies_bytes, 100), 100 * replies_bytes);
      const allocation_counter since;
      const std::size_t received = co_await ask(client, requests, replies_bytes, 1'000);
      const std::uint64_t allocations = since.allocations();
      const std::uint64_t frees = since.frees();
      EXPECT_EQ(received, 1'000 * replies_bytes);
      EXPECT_EQ(allocations, 0U);
      EXPECT_EQ(frees, 0U);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, warm_path, backends, backend_name);

constexpr std::string_view ping_request =
    "POST /ping HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: test\r\nAccept: */*\r\n"
    "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"sequence\":2}";

TEST_P(warm_path, of_a_ping_allocates_nothing) {
  http().post("/ping", [](warm_ping p) { return p; });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_a_ping_to_a_coroutine_allocates_nothing) {
  event_loop& turning = loop();
  http().post("/ping", [&turning](warm_ping p) -> task<warm_ping> {
    co_await yield{turning};
    co_return p;
  });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_a_coroutine_that_does_not_wait_allocates_nothing) {
  http().post("/ping", [](warm_ping p) -> task<result<warm_ping>> { co_return p; });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_a_reply_that_is_timed_allocates_nothing) {
  http().wrap_all(server_timing{});
  http().post("/ping", [](warm_ping p) { return p; });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_a_request_with_a_trace_and_a_deadline_allocates_nothing) {
  event_loop& turning = loop();
  http().wrap_all(trace_requests{1});
  http().wrap_all(request_deadlines{});
  http().post("/ping", [&turning](warm_ping p) -> task<warm_ping> {
    co_await yield{turning};
    co_return p;
  });
  expect_no_allocation(
      "POST /ping HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\nRequest-Timeout-Ms: 60000\r\n"
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
      "tracestate: a=b\r\n\r\n{\"sequence\":2}");
}

TEST_P(warm_path, of_typed_parameters_allocates_nothing) {
  http().put("/items/{id}", [](path<warm_key> at, query<warm_search> q, warm_ping p) {
    return warm_ping{at->id + *q->limit + p.sequence};
  });
  expect_no_allocation(
      "PUT /items/17?word=green%20tea&limit=5 HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n"
      "{\"sequence\":2}");
}

TEST_P(warm_path, of_pipelined_pings_allocates_nothing) {
  http().post("/ping", [](warm_ping p) { return p; });
  expect_no_allocation(repeated(ping_request, 8));
}

TEST_P(warm_path, of_a_request_through_three_middlewares_allocates_nothing) {
  std::uint64_t seen = 0;
  const auto count = [&seen](exchange& e, handler& next) {
    ++seen;
    next(e);
  };
  const auto mark = [](exchange& e, handler& next) {
    std::ignore = e.add_field("X-Frame-Options", "DENY");
    next(e);
  };
  http().group("/users").wrap(count).wrap(mark).wrap(count).post(
      "/{name}/pings", [](const request& r, warm_ping p) {
        EXPECT_EQ(r.parameter("name"), "ann");
        return p;
      });
  expect_no_allocation(
      "POST /users/ann/pings HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 14\r\n\r\n"
      "{\"sequence\":2}");
  EXPECT_EQ(seen, 2U * 1'101U);
}

TEST_P(warm_path, of_a_request_through_three_middlewares_around_all_allocates_nothing) {
  std::uint64_t replied = 0;
  http().wrap_all([&replied](exchange& e, handler& next) {
    e.run_then(next, [&replied, &e] { replied += e.replied_with() == status::ok ? 1U : 0U; });
  });
  http().wrap_all([](exchange& e, handler& next) {
    std::ignore = e.add_field("X-Frame-Options", "DENY");
    next(e);
  });
  http().wrap_all([](exchange& e, handler& next) {
    if (e.client() && !e.client()->is_ipv4()) return e.reply_problem(status::forbidden, "no");
    next(e);
  });
  http().post("/users/{name}/pings", [](const request& r, warm_ping p) {
    EXPECT_EQ(r.parameter("name"), "ann");
    return p;
  });
  expect_no_allocation(
      "POST /users/ann/pings HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 14\r\n\r\n"
      "{\"sequence\":2}");
  EXPECT_EQ(replied, 1'101U);
}

TEST_P(warm_path, of_a_coroutine_around_all_allocates_nothing) {
  http().post("/ping", [](warm_ping p) { return p; });
  http().wrap_all([](exchange& e, handler& next) -> task<void> { co_await e.run(next); });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_an_access_log_and_cors_allocates_nothing) {
  std::size_t logged_bytes = 0;
  http().wrap_all(access_log{loop(), [&](std::string_view line) { logged_bytes += line.size(); }});
  http().wrap_all(cors::make({.origins = {"https://app.example"}}).value());
  http().post("/ping", [](warm_ping p) { return p; });
  expect_no_allocation(
      "POST /ping HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\n"
      "Content-Length: 14\r\n\r\n{\"sequence\":2}");
  EXPECT_GT(logged_bytes, 0U);
}

TEST_P(warm_path, of_streamed_bodies_allocates_nothing) {
  http().post("/echo", [](body_reader& in, body_writer& out) -> task<result<void>> {
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
  expect_no_allocation(
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n");
}

TEST_P(warm_path, of_a_refusal_by_the_router_allocates_nothing) {
  http().post("/ping", [](warm_ping p) { return p; });
  expect_no_allocation("GET /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n");
}

/// The same over HTTP/2: HEADERS that fill no table, and DATA. Frames are counted by their heads.
class warm_http2 : public warm_path {
 protected:
  static std::string framed(std::uint8_t type, std::uint8_t flags, std::int32_t id,
                            std::string_view payload) {
    std::string text{'\0', '\0', static_cast<char>(payload.size()), static_cast<char>(type),
                     static_cast<char>(flags)};
    for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(id >> shift));
    return text.append(payload);
  }
  /// Takes whole frames from what has come. Whether the stream's reply ends within them.
  static bool take_end(std::string& come, std::int32_t id) {
    bool has_ended = false;
    std::size_t at = 0;
    while (come.size() - at >= http2::frame_head::size_bytes) {
      const http2::frame_head head = http2::read_frame_head(come.data() + at);
      const std::size_t size = http2::frame_head::size_bytes + head.length;
      if (come.size() - at < size) break;
      has_ended |= head.type <= 1 && head.stream == id && (head.flags & 1U) != 0;
      at += size;
    }
    come.erase(0, at);
    return has_ended;
  }
  /// Asks `count` times; `request` has two frames or one, whose stream is written anew.
  static task<std::size_t> ask_framed(http_client& client, std::string& come, std::string& request,
                                      std::int32_t& id, int count) {
    std::size_t answered = 0;
    for (; count > 0; --count, id += 2) {
      for (std::size_t at = 0; at < request.size();
           at += 9 + static_cast<unsigned char>(request[at + 2]))
        for (std::size_t i = 0; i < 4; ++i)
          request[at + 5 + i] = static_cast<char>(id >> (24 - 8 * i));
      if (!co_await client.stream().write(std::string_view{request})) break;
      for (bool has_ended = false; !has_ended;) {
        const auto bytes = co_await client.stream().read();
        if (!bytes) co_return answered;
        come += bytes->text();
        has_ended = take_end(come, id);
      }
      ++answered;
    }
    co_return answered;
  }
  void expect_no_allocation_of(std::string request) {
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      std::string come;
      come.reserve(64 * 1024);
      std::int32_t id = 1;
      co_await client.send(std::string{http2::client_preface} + framed(4, 0, 0, {}));
      EXPECT_EQ(co_await ask_framed(client, come, request, id, 300), 300U);
      const allocation_counter since;
      const std::size_t answered = co_await ask_framed(client, come, request, id, 1'000);
      const std::uint64_t allocations = since.allocations();
      EXPECT_EQ(answered, 1'000U);
      EXPECT_EQ(allocations, 0U);
    });
  }
  /// ":method: POST", ":scheme: http", ":path: /ping", ":authority: a", "content-length: 14".
  static std::string ping() {
    const std::string head{
        "\x83\x86\x04\x05/ping\x01\x01\x61\x0f\x0d\x02"
        "14",
        17};
    return framed(1, 4, 0, head) + framed(0, 1, 0, "{\"sequence\":2}");
  }
};
INSTANTIATE_TEST_SUITE_P(on, warm_http2, backends, backend_name);

TEST_P(warm_http2, of_a_ping_allocates_nothing) {
  http().post("/ping", [](warm_ping p) { return p; });
  expect_no_allocation_of(ping());
}

TEST_P(warm_http2, of_a_ping_to_a_coroutine_allocates_nothing) {
  event_loop& turning = loop();
  http().post("/ping", [&turning](warm_ping p) -> task<warm_ping> {
    co_await yield{turning};
    co_return p;
  });
  expect_no_allocation_of(ping());
}

TEST_P(warm_http2, of_streamed_bodies_allocates_nothing) {
  http().post("/ping", [](body_reader& in, body_writer& out) -> task<result<void>> {
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
  expect_no_allocation_of(ping());
}

/// Next to what comes from the frame pool: what a backend keeps for a socket (uring_descriptor,
/// epoll_descriptor), and the pointers of the server's list, which may have grown to twice as many.
constexpr std::size_t beside_the_pool_bytes = 72 + 2 * sizeof(void*);
constexpr std::size_t bytes_most = 512;

/// Clients without a loop, so that all that is pooled is the server's.
class bare_client {
 public:
  explicit bare_client(const net::endpoint& where)
      : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    EXPECT_EQ(::connect(fd_, where.raw().get(), where.raw().size_bytes), 0);
  }
  bare_client(bare_client&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  bare_client& operator=(bare_client&&) = delete;
  ~bare_client() {
    if (fd_ >= 0) ::close(fd_);
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

 private:
  int fd_;
};

class idle_connection : public warm_path {};
INSTANTIATE_TEST_SUITE_P(on, idle_connection,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(idle_connection, takes_512_bytes_at_most_and_no_buffer) {
  http().post("/ping", [](warm_ping p) { return p; });
  run([&]() -> task<void> {
    constexpr std::size_t count = 100;
    std::vector<bare_client> clients;
    clients.reserve(count);
    const auto settle = [&](std::uint64_t requests) -> task<void> {
      while (http().requests() < requests || http().connections() < clients.size())
        co_await yield{loop()};
      for (int i = 0; i < 10; ++i) co_await yield{loop()};
    };
    const auto open_one = [&]() -> task<void> {
      clients.emplace_back(http().local_endpoint());
      clients.back().send(ping_request);
      co_await settle(clients.size());
    };
    co_await open_one();
    const std::size_t pooled_before = frame_pool::live_bytes();
    const std::size_t frames_before = frame_pool::live_frames();
    const std::size_t slots_before = loop().buffers().in_use();
    while (clients.size() < count) co_await open_one();
    const std::size_t each = (frame_pool::live_bytes() - pooled_before) / (count - 1);
    const std::size_t blocks = (frame_pool::live_frames() - frames_before) / (count - 1);
    std::printf("an idle connection: %zu bytes in %zu pooled blocks, and at most %zu beside them\n",
                each, blocks, beside_the_pool_bytes);
    RecordProperty("idle_connection_bytes", static_cast<int>(each));
    EXPECT_LE(each + beside_the_pool_bytes, bytes_most);
    EXPECT_EQ(loop().buffers().in_use(), slots_before);
  });
}

}  // namespace
}  // namespace weft::http
