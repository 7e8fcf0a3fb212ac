#include <weft/http/route_table.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;
using testing::http_client;

constexpr std::string_view service_name = "shop::api";

class routes_of_services : public testing::in_memory {
 protected:
  void TearDown() override {
    own_.reset();  // before its loop
    testing::in_memory::TearDown();
  }
  /// As a container does while it makes the service.
  template <class F>
  void make(F routes) {
    own_.emplace(service_name);
    const lifetime::making now{*own_};
    routes();
  }
  static task<int> status_of(http_client& client, std::string_view path) {
    co_return (co_await client.ask("GET", path)).status;
  }

  std::optional<lifetime> own_;
};

TEST_F(routes_of_services, end_with_their_service) {
  http().get("/", [] { return "the server's"; });
  make([&] {
    http().get("/orders", [] { return "all"; }).get("/orders/{id}", [] { return "one"; });
    http().get("/kept", [] { return "the server's, too"; }, nullptr);
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ(co_await status_of(client, "/orders"), 200);
    own_->request_end();
    EXPECT_EQ(co_await status_of(client, "/orders"), 404);
    EXPECT_EQ(co_await status_of(client, "/orders/7"), 404);
    EXPECT_EQ(co_await status_of(client, "/"), 200);
    EXPECT_EQ(co_await status_of(client, "/kept"), 200);
  });
  EXPECT_TRUE(own_->idle());
}

TEST_F(routes_of_services, may_be_added_again_when_it_comes_back) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const std::string_view said : {"first", "second", "third"}) {
      make([&] { http().get("/orders/{id}", [said] { return std::string{said}; }); });
      EXPECT_EQ((co_await client.ask("GET", "/orders/1")).body, said);
      own_->request_end();
    }
  });
}

TEST_F(routes_of_services, say_whose_they_are_after_a_wait) {
  own_.emplace(service_name);
  http().get("/late", [] { return "here"; }, &*own_);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ(co_await status_of(client, "/late"), 200);
    own_.reset();
    EXPECT_EQ(co_await status_of(client, "/late"), 404);
  });
}

TEST_F(routes_of_services, are_not_added_when_they_are_wrong) {
  http().get("/a", [] { return "a"; });
  make([&] { EXPECT_THROW(http().get("/a", [] { return "b"; }), std::invalid_argument); });
  own_->request_end();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/a")).body, "a");
  });
}

TEST_F(routes_of_services, that_wait_work_for_it_and_keep_it) {
  const lifetime* works_for = nullptr;
  bool ended = false;
  const auto captured = std::make_shared<int>(0);
  make([&] {
    http().get("/slow/{id}", [&, captured](const request& r) -> task<std::string> {
      works_for = (co_await this_task::environment()).owner;
      co_await world().sleep(10ms);
      EXPECT_FALSE(ended);
      co_return std::string{r.parameter("id").value_or("its name is lost")};
    });
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    auto other = co_await world().connect();
    co_await client.send("GET /slow/7 HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await world().sleep(1ms);
    EXPECT_TRUE(own_->idle()) << "requests keep no service from being asked to stop";
    own_->request_end();
    EXPECT_FALSE(own_->idle());
    EXPECT_EQ(co_await status_of(other, "/slow/8"), 404) << "nobody else is let in";
    co_await own_->ended();
    ended = true;
    EXPECT_EQ(captured.use_count(), 1) << "what the handler captured ends before its service";
    EXPECT_EQ((co_await client.reply()).body, "7");
  });
  EXPECT_EQ(works_for, &*own_);
}

TEST_F(routes_of_services, that_wait_for_too_long_are_cancelled_before_it_goes) {
  serve_within({.handler_timeout = 3s});
  bool waits = false;
  result<void> outcome;
  make([&] {
    http().get("/for_ever", [&]() -> task<std::string> {
      waits = true;
      outcome = co_await sleep_for(loop(), 1h);
      co_return "late";
    });
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /for_ever HTTP/1.1\r\nHost: a\r\n\r\n");
    while (!waits) co_await world().sleep(1ms);
    own_->request_end();
    co_await own_->ended();
    EXPECT_EQ(outcome.error_or(errc::closed), errc::cancelled);
    EXPECT_EQ((co_await client.reply()).body, "late");
  });
}

TEST_F(routes_of_services, are_not_found_by_requests_whose_body_is_still_to_come) {
  make([&] { http().post("/orders", [] { return "taken"; }); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
    co_await world().sleep(1ms);
    own_->request_end();
    EXPECT_TRUE(own_->idle());
    own_.reset();
    co_await client.send("lf");
    EXPECT_EQ((co_await client.reply()).status, 404);
  });
}

TEST_F(routes_of_services, that_are_the_servers_work_for_the_server) {
  make([&] { serve(backend_kind::simulated); });
  const lifetime* works_for = nullptr;
  http().get("/", [&]() -> task<std::string> {
    works_for = (co_await this_task::environment()).owner;
    co_return "done";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ(co_await status_of(client, "/"), 200);
  });
  EXPECT_EQ(works_for, &*own_);
}

TEST_F(routes_of_services, may_end_within_a_call_of_their_own) {
  make([&] {
    const auto captured = std::make_shared<std::string>("the last words");
    http().get("/end/{how}", [&, captured](const request& r) {
      own_->request_end();
      return std::string{r.parameter("how").value_or("")} + " " + *captured;
    });
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/end/now")).body, "now the last words");
    EXPECT_EQ(co_await status_of(client, "/end/now"), 404);
  });
}

TEST_F(routes_of_services, may_be_a_services_that_ends_after_the_server) {
  make([&] { http().get("/", [] { return ""; }); });
  serve(backend_kind::simulated);
  own_->request_end();
}

class in_a_table : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<std::string> add(std::string_view pattern, lifetime* owner) {
    const auto added = table_.add(method::get, pattern, [](exchange&) {}, owner);
    return added ? std::nullopt : std::optional{added.error()};
  }
  void turn() {
    loop_->spawn([](event_loop& on) -> task<void> { co_await yield{on}; }(*loop_));
    loop_->run();
  }

  std::unique_ptr<event_loop> loop_ = *event_loop::create({.backend = backend_kind::simulated});
  const limits bounds_;
  route_table table_{*loop_, bounds_, nullptr};
};

TEST_F(in_a_table, routes_that_come_and_go_take_no_more_room) {
  EXPECT_EQ(add("/kept", nullptr), std::nullopt);
  for (int round = 0; round < 20; ++round) {
    lifetime own{service_name};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(add("/" + std::to_string(i), &own), std::nullopt);
    EXPECT_EQ(table_.size(), 11U);
    own.request_end();
    EXPECT_EQ(table_.size(), 11U) << "one of them may be under way";
    turn();
    EXPECT_EQ(table_.size(), 1U);
  }
}

TEST_F(in_a_table, a_conflict_costs_nothing) {
  lifetime own{service_name};
  EXPECT_EQ(add("/a", nullptr), std::nullopt);
  EXPECT_NE(add("/a", &own), std::nullopt);
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_EQ(add("/b", &own), std::nullopt);
  own.request_end();
  EXPECT_EQ(add("/b", nullptr), std::nullopt) << "the path is free at once";
}

}  // namespace
}  // namespace weft::http
