#include <weft/http/trace_requests.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <weft/coro/race.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/when_all.hpp>
#include <weft/telemetry/trace_context.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

constexpr std::string_view asked_in =
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\ntracestate: a=b\r\n";

std::string words_of(const telemetry::trace_context* trace) {
  if (trace == nullptr) return "none";
  const auto parent = trace->parent();
  return std::string{parent.data(), parent.size()} + " " + trace->state;
}

task<std::string> words_of_my_trace() {
  co_return words_of((co_await this_task::environment()).trace);
}

class trace_requests_test : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    http().get("/waits", []() -> task<std::string> { co_return co_await words_of_my_trace(); });
    http().route(method::get, "/now",
                 [](exchange& e) { e.reply(status::ok, "text/plain", words_of(e.trace())); });
  }
};

TEST_F(trace_requests_test, go_on_with_the_trace_of_who_asks) {
  http().wrap_all(trace_requests{1});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    std::string last;
    for (const std::string_view path : {"/waits", "/now", "/waits"}) {
      const std::string words = (co_await client.ask("GET", path, {}, asked_in)).body;
      EXPECT_TRUE(words.starts_with("00-0af7651916cd43dd8448eb211c80319c-")) << words;
      EXPECT_TRUE(words.ends_with("-01 a=b")) << words;
      EXPECT_EQ(words.find("b7ad6b7169203331"), words.npos) << "a span of its own";
      EXPECT_NE(words, last) << "of each request";
      last = words;
    }
  });
}

/// Tasks side by side work for the same request.
task<std::string> words_of_tasks_side_by_side() {
  const auto [one, other] = co_await when_all(words_of_my_trace(), words_of_my_trace());
  const auto ended = co_await race(words_of_my_trace(), words_of_my_trace());
  const auto& winner = ended.winner == 0 ? std::get<0>(ended.values) : std::get<1>(ended.values);
  std::string spawned;
  scope tasks{co_await this_task::environment()};
  tasks.spawn(
      [](std::string& into) -> task<void> { into = co_await words_of_my_trace(); }(spawned));
  co_await tasks.join();
  co_return one + "|" + other + "|" + winner.value() + "|" + spawned;
}

TEST_F(trace_requests_test, are_inherited_by_tasks_side_by_side) {
  http().wrap_all(trace_requests{1});
  http().get("/together", &words_of_tasks_side_by_side);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string words = (co_await client.ask("GET", "/together", {}, asked_in)).body;
    const std::string first = words.substr(0, words.find('|'));
    EXPECT_TRUE(first.starts_with("00-0af7651916cd43dd8448eb211c80319c-")) << words;
    EXPECT_EQ(words, first + "|" + first + "|" + first + "|" + first);
  });
}

TEST_F(trace_requests_test, begin_one_where_there_is_none_to_believe) {
  http().wrap_all(trace_requests{1});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string twice = std::string{asked_in} + std::string{asked_in};
    for (const std::string_view fields :
         {std::string_view{}, std::string_view{"traceparent: 00-0-0-0\r\ntracestate: a=b\r\n"},
          std::string_view{twice}}) {
      const std::string words = (co_await client.ask("GET", "/waits", {}, fields)).body;
      EXPECT_EQ(words.find("0af7651916cd43dd8448eb211c80319c"), words.npos) << words;
      EXPECT_TRUE(words.ends_with("-00 ")) << words;
    }
  });
}

TEST_F(trace_requests_test, are_none_without_it) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/waits", {}, asked_in)).body, "none");
    EXPECT_EQ((co_await client.ask("GET", "/now", {}, asked_in)).body, "none");
  });
}

}  // namespace
}  // namespace weft::http
