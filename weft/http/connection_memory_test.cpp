// HTTP/1.1 where the shard is short of memory: in memory, in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>

#include <weft/base/memory_budget.hpp>
#include <weft/http/request.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t limit_bytes = std::size_t{64} << 20U;
constexpr std::string_view head = "POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n";

class connection_memory : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    memory().budget().set_limit(limit_bytes);
    http().post("/size", [](const request& r) { return std::to_string(r.body().size()); });
  }
  void TearDown() override {
    memory().budget().set_limit(memory_budget::unlimited);
    in_memory::TearDown();
  }
  [[nodiscard]] memory_share& memory() noexcept { return loop().memory(); }
};

TEST_F(connection_memory, a_small_body_waits_a_moment_while_there_is_none) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    auto others = memory().hold(memory_kind::requests, limit_bytes);
    co_await client.send(head);
    std::ignore = co_await sleep_for(loop(), 500ms);
    others.reset();
    co_await client.send("four");
    const std::string reply = co_await client.receive();
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 ")) << reply;
    EXPECT_TRUE(reply.ends_with("\r\n\r\n4")) << reply;
  });
}

TEST_F(connection_memory, a_small_body_is_refused_where_there_is_none_for_long) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto others = memory().hold(memory_kind::requests, limit_bytes);
    const time_point began = loop().now();
    co_await client.send(head);
    const std::string reply = co_await client.receive();
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 503 ")) << reply;
    EXPECT_TRUE(reply.contains("\r\nRetry-After: ")) << reply;
    EXPECT_GE(loop().now() - began, 1s);
  });
}

TEST_F(connection_memory, a_head_in_two_pieces_is_served_while_heads_hold_little) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto others = memory().hold(memory_kind::output, limit_bytes);
    co_await client.send("GET /nothing HTTP/1.1\r\n");
    std::ignore = co_await sleep_for(loop(), 500ms);
    co_await client.send("Host: x\r\n\r\n");
    const std::string reply = co_await client.receive();
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 404 ")) << reply;
  });
}

TEST_F(connection_memory, heads_that_hold_much_are_refused_while_there_is_none) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto others = memory().hold(memory_kind::output, limit_bytes);
    const auto heads = memory().hold(memory_kind::requests, limit_bytes / 32 + 1);
    co_await client.send("GET /nothing HTTP/1.1\r\n");
    const std::string reply = co_await client.receive();
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 503 ")) << reply;
    EXPECT_TRUE(reply.contains("\r\nRetry-After: ")) << reply;
  });
}

}  // namespace
}  // namespace weft::http
