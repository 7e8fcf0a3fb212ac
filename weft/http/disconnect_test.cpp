// What becomes of a handler whose client goes away.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include <weft/coro/shielded.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_client;
using testing::in_memory;

constexpr std::string_view ask_slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";

/// A handler that waits, and what came of that.
class slow_handler {
 public:
  void serve(server& on, event_loop& loop, duration length) {
    on.get("/slow", [this, &loop, length]() -> task<std::string> {
      began_ = true;
      outcome_ = co_await sleep_for(loop, length);
      co_return "slow";
    });
  }
  [[nodiscard]] bool began() const noexcept { return began_; }
  [[nodiscard]] const std::optional<result<void>>& outcome() const noexcept { return outcome_; }
  [[nodiscard]] bool was_cancelled() const noexcept {
    return outcome_ && !*outcome_ && outcome_->error() == errc::cancelled;
  }

 private:
  bool began_ = false;
  std::optional<result<void>> outcome_;
};

class disconnect_test : public each_backend {
 protected:
  /// A client that has sent `request`, whose handler waits.
  task<http_client> waiting_client(std::string_view request) {
    auto client = co_await world().connect();
    co_await client.send(request);
    while (!slow_.began()) co_await yield{loop()};
    co_return client;
  }
  task<void> until_handled() {
    while (!slow_.outcome()) co_await world().sleep(milliseconds{1});
  }

  slow_handler slow_;
};
INSTANTIATE_TEST_SUITE_P(on, disconnect_test, backends, backend_name);

TEST_P(disconnect_test, stops_the_handler_of_a_client_that_has_closed) {
  slow_.serve(http(), loop(), seconds{20});
  run([&]() -> task<void> {
    auto client = co_await waiting_client(ask_slow);
    EXPECT_TRUE((co_await client.stream().close()).has_value());
    co_await until_handled();
    EXPECT_TRUE(slow_.was_cancelled());
    while (http().connections() != 0) co_await world().sleep(milliseconds{1});
  });
}

TEST_P(disconnect_test, stops_the_handler_of_a_client_that_resets) {
  slow_.serve(http(), loop(), seconds{20});
  http().get("/quick", [] { return "quick"; });
  run([&]() -> task<void> {
    auto client = co_await waiting_client(
        "GET /quick HTTP/1.1\r\nHost: a\r\n\r\nGET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await world().sleep(milliseconds{10});  // the first reply is there, and never read
    EXPECT_TRUE((co_await client.stream().close()).has_value());
    co_await until_handled();
    EXPECT_TRUE(slow_.was_cancelled());
  });
}

TEST_P(disconnect_test, takes_the_end_of_output_for_the_end) {
  slow_.serve(http(), loop(), seconds{20});
  run([&]() -> task<void> {
    auto client = co_await waiting_client(ask_slow);
    EXPECT_TRUE((co_await client.stream().shutdown()).has_value());
    EXPECT_EQ((co_await client.reply()).status, 200) << "what the handler gives is sent";
    EXPECT_TRUE(slow_.was_cancelled());
  });
}

TEST_P(disconnect_test, serves_who_has_only_ended_its_output_where_that_is_wanted) {
  serve(GetParam(), server_options{.drain_idle = duration::zero(), .serve_half_closed = true});
  slow_.serve(http(), loop(), milliseconds{600});
  run([&]() -> task<void> {
    auto client = co_await waiting_client(ask_slow);
    EXPECT_TRUE((co_await client.stream().shutdown()).has_value());
    const auto answer = co_await client.reply();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "slow");
    EXPECT_TRUE((*slow_.outcome()).has_value());
  });
}

TEST_P(disconnect_test, leaves_shielded_work_alone) {
  std::optional<result<void>> waited;
  std::optional<result<void>> said;
  http().get("/slow", [&]() -> task<std::string> {
    waited = co_await sleep_for(loop(), seconds{20});
    said = co_await shielded(
        [&]() -> task<result<void>> { co_return co_await sleep_for(loop(), milliseconds{300}); }());
    co_return "done";
  });
  run([&]() -> task<void> {
    {
      auto client = co_await world().connect();
      co_await client.send(ask_slow);
      while (http().requests() == 0) co_await yield{loop()};
    }
    while (!said) co_await world().sleep(milliseconds{1});
    EXPECT_EQ(waited->error(), errc::cancelled);
    EXPECT_TRUE(said->has_value());
  });
}

class disconnect_in_memory : public in_memory {};

// The client is looked after for the first time after a quarter of a second: the handler has its
// answer before that, at the same time, and after it.
TEST_F(disconnect_in_memory, before_at_and_after_the_end_of_the_wait) {
  std::optional<result<void>> outcome;
  const auto slow = [&](milliseconds length) {
    return [&, length]() -> task<std::string> {
      outcome = co_await sleep_for(loop(), length);
      co_return "slow";
    };
  };
  http().get("/before", slow(milliseconds{249}));
  http().get("/at", slow(milliseconds{250}));
  http().get("/after", slow(milliseconds{260}));
  run([&]() -> task<void> {
    for (const std::string path : {"/before", "/at", "/after"}) {
      outcome.reset();
      {
        auto client = co_await world().connect();
        co_await client.send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\nGET " + path +
                             " HTTP/1.1\r\nHost: a\r\n\r\n");
        co_await world().sleep(milliseconds{5});  // the first reply is not read: that is a reset
      }
      while (!outcome) co_await world().sleep(milliseconds{1});
      if (path == "/before") EXPECT_TRUE(outcome->has_value());
      if (path == "/after") EXPECT_EQ(outcome->error(), errc::cancelled);
      if (!*outcome) EXPECT_EQ(outcome->error(), errc::cancelled) << path;
      while (http().connections() != 0) co_await world().sleep(milliseconds{1});
    }
  });
}

TEST_F(disconnect_in_memory, looks_as_often_as_the_route_says) {
  std::optional<result<void>> outcome;
  const auto slow = [&]() -> task<std::string> {
    outcome = co_await sleep_for(loop(), milliseconds{100});
    co_return "slow";
  };
  http().within({.client_look_interval = milliseconds{20}}).get("/often", slow);
  http().get("/seldom", slow);
  run([&]() -> task<void> {
    for (const std::string path : {"/often", "/seldom"}) {
      outcome.reset();
      {
        auto client = co_await world().connect();
        co_await client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
      }
      while (!outcome) co_await world().sleep(milliseconds{1});
      EXPECT_EQ(!outcome->has_value(), path == "/often");
      while (http().connections() != 0) co_await world().sleep(milliseconds{1});
    }
  });
}

}  // namespace
}  // namespace weft::http
