// The client against our own server, in one loop: answers, kept connections, waiting, giving up.
#include <weft/http/client/client.hpp>

#include <string>
#include <vector>

#include <weft/coro/when_all.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/request.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;
using namespace std::chrono_literals;

struct client_item {
  std::int64_t id = 0;
  std::string name;
};

struct client_item_key {
  std::int64_t id = 0;
};

class client_test : public client_fixture {};
INSTANTIATE_TEST_SUITE_P(on, client_test, backends, backend_name);

TEST_P(client_test, gets_what_is_there) {
  http().get("/hello", [] { return "hello"; });
  run_with_client([&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(url("/hello"));
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->status(), status::ok);
    EXPECT_TRUE(answer->is_success());
    EXPECT_EQ(answer->body(), "hello");
    EXPECT_EQ(answer->header("content-type"), "text/plain; charset=utf-8");
    EXPECT_FALSE(answer->header("x-none").has_value());
  });
}

TEST_P(client_test, asks_for_paths_without_dot_segments) {
  http().get("/{*rest}", [](const request& r) { return std::string{r.target()}; });
  run_with_client([&](client& asking) -> task<void> {
    const auto asked_for = [&](std::string_view path) -> task<std::string> {
      auto answer = co_await asking.get(url(path));
      co_return answer ? answer->take_body() : answer.error().message();
    };
    EXPECT_EQ(co_await asked_for("/a/../b"), "/b");
    EXPECT_EQ(co_await asked_for("/a/./b/..?c=/../d"), "/a/?c=/../d");
    EXPECT_EQ(co_await asked_for("/../../b c/%2e%2E/d|e"), "/d%7Ce");
    EXPECT_EQ(co_await asked_for("/.well-known/..x/%2e%2e%2fy"), "/.well-known/..x/%2e%2e%2fy");
    auto streamed = co_await asking.open({method::get, url("/a/../b/./c")});
    EXPECT_TRUE(streamed.has_value());
    if (streamed) EXPECT_EQ((co_await streamed->read()).value_or("nothing"), "/b/c");
  });
}

/// A URL is owned by its request: these are temporaries, gone before the requests begin.
TEST_P(client_test, keeps_the_urls_of_requests_that_begin_later) {
  http().get("/items/{id}", [](const request& r) { return std::string{r.path()}; });
  http().post("/items/{id}",
              [](path<client_item_key> at, client_item) { return client_item{at->id, "posted"}; });
  run_with_client([&](client& asking) -> task<void> {
    const std::string base = url("/items/1000000000");
    std::vector<task<client_result<client_response>>> kept;
    std::vector<task<client_result<client_item>>> typed;
    for (int i = 0; i != 10; ++i) {
      kept.push_back(asking.get(base + std::to_string(i)));
      typed.push_back(asking.post<client_item>(base + std::to_string(i), client_item{}));
    }
    const auto answers = co_await when_all(std::move(kept));
    const auto items = co_await when_all(std::move(typed));
    for (std::size_t i = 0; i != answers.size(); ++i) {
      EXPECT_EQ(answers[i] ? answers[i]->body() : answers[i].error().message(),
                "/items/1000000000" + std::to_string(i));
      EXPECT_EQ(items[i] ? items[i]->id : 0, 10'000'000'000 + static_cast<std::int64_t>(i));
    }
  });
}

TEST_P(client_test, encodes_what_urls_should_have_encoded) {
  http().get("/{name}", [](const request& r) { return std::string{r.target()}; });
  run_with_client([&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(url(R"(/[a]|{b}^`"<c>\caf)"
                                                "\xc3\xa9"
                                                R"( d?[e]={f|g})"));
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    if (!answer) co_return;
    EXPECT_EQ(answer->body(),
              "/%5Ba%5D%7C%7Bb%7D%5E%60%22%3Cc%3E%5Ccaf%C3%A9%20d?%5Be%5D=%7Bf%7Cg%7D");
    auto opened = co_await asking.open(client_request{method::get, url("/a b")});
    EXPECT_TRUE(opened.has_value()) << opened.error().message();
    if (!opened) co_return;
    const auto piece = co_await opened->read();
    EXPECT_EQ(piece.value_or(""), "/a%20b");
  });
}

TEST_P(client_test, takes_any_status_for_an_answer) {
  run_with_client([&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(url("/nowhere"));
    EXPECT_EQ(answer->status(), status::not_found);
    EXPECT_FALSE(answer->is_success());
  });
}

TEST_P(client_test, sends_methods_fields_and_bodies) {
  http().put("/echo", [](const request& r) {
    return std::string{r.header("x-tag").value_or("none")} + "," +
           std::string{r.header("content-type").value_or("none")} + "," + std::string{r.body()};
  });
  const std::string large(300'000, 'b');
  run_with_client([&](client& asking) -> task<void> {
    const auto small = co_await asking.send(client_request{method::put, url("/echo")}
                                                .header("X-Tag", "seven")
                                                .body("content", text_plain));
    EXPECT_EQ(small->body(), "seven,text/plain; charset=utf-8,content");
    const auto much = co_await asking.send(client_request{method::put, url("/echo")}.body(large));
    EXPECT_TRUE(much->body() == "none,none," + large);
    const auto empty = co_await asking.send(client_request{method::put, url("/echo")}.body(""));
    EXPECT_EQ(empty->body(), "none,none,");
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_P(client_test, gives_the_head_alone_for_head) {
  http().get("/text", [] { return "text"; });
  run_with_client([&](client& asking) -> task<void> {
    for (int i = 0; i < 2; ++i) {
      const auto answer = co_await asking.send(client_request{method::head, url("/text")});
      EXPECT_EQ(answer->header("content-length"), "4");
      EXPECT_EQ(answer->body(), "");
    }
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_P(client_test, reads_and_writes_json) {
  http().get("/items/7", [] { return client_item{7, "seven"}; });
  http().post("/items", [](client_item made) {
    ++made.id;
    return made;
  });
  run_with_client([&](client& asking) -> task<void> {
    const auto got = co_await asking.get<client_item>(url("/items/7"));
    EXPECT_TRUE(got.has_value()) << got.error().message();
    EXPECT_EQ(got->name, "seven");
    const auto made = co_await asking.post<client_item>(url("/items"), client_item{8, "more"});
    EXPECT_EQ(made->id, 9);
    EXPECT_EQ(made->name, "more");
    const auto large =
        co_await asking.post<client_item>(url("/items"), client_item{8, std::string(9'000, 'l')});
    EXPECT_EQ(large->name.size(), 9'000U);
    const auto sent = co_await asking.send<client_item>(
        client_request{method::post, url("/items")}.json(client_item{10, "sent"}));
    EXPECT_EQ(sent->id, 11);
  });
}

TEST_P(client_test, says_what_an_answer_is_not) {
  http().get("/text", [] { return response::json_text("{\"id\":\"x\",\"name\":\"\"}"); });
  http().get("/busy", [] { return response::empty(status::service_unavailable); });
  run_with_client([&](client& asking) -> task<void> {
    const auto wrong = co_await asking.get<client_item>(url("/text"));
    EXPECT_EQ(wrong.error(), errc::protocol_error);
    EXPECT_TRUE(wrong.error().message().contains("/id")) << wrong.error().message();
    EXPECT_EQ(wrong.error().answered(), status::ok);
    const auto missing = co_await asking.get<client_item>(url("/nowhere"));
    EXPECT_EQ(missing.error(), errc::not_found);
    EXPECT_EQ(missing.error().answered(), status::not_found);
    EXPECT_EQ(missing.error().message(),
              "GET " + url("/nowhere") + ": answered with 404 Not Found");
    const auto busy = co_await asking.get<client_item>(url("/busy"));
    EXPECT_EQ(busy.error(), errc::unavailable);
    EXPECT_EQ(http().connections(), 1U);
    EXPECT_EQ(counted("http_client_failures_total"), 0);
  });
}

TEST_P(client_test, refuses_what_must_not_be_sent) {
  run_with_client([&](client& asking) -> task<void> {
    const auto none = co_await asking.get("orders");
    EXPECT_EQ(none.error(), errc::invalid_argument);
    EXPECT_EQ(none.error().message(), "GET orders: a URL begins with http:// or https://");
    const auto split =
        co_await asking.send(client_request{method::get, url("/")}.header("X-A", "b\r\nX-C: d"));
    EXPECT_EQ(split.error(), errc::invalid_argument);
    EXPECT_TRUE(split.error().message().contains("X-A"));
    const auto length =
        co_await asking.send(client_request{method::get, url("/")}.header("content-LENGTH", "3"));
    EXPECT_EQ(length.error(), errc::invalid_argument);
    const auto tunnel = co_await asking.send(client_request{method::connect, url("/")});
    EXPECT_EQ(tunnel.error(), errc::invalid_argument);
    EXPECT_EQ(http().connections(), 0U);
  });
}

TEST_P(client_test, keeps_a_connection_for_the_next_request) {
  http().get("/", [] { return "here"; });
  run_with_client([&](client& asking) -> task<void> {
    for (int i = 0; i < 10; ++i) {
      const auto answer = co_await asking.get(url("/"));
      EXPECT_EQ(answer->body(), "here");
    }
    EXPECT_EQ(http().connections(), 1U);
    EXPECT_EQ(counted("http_client_requests_total"), 10);
    EXPECT_EQ(counted("http_client_connections_total"), 1);
    EXPECT_EQ(counted("http_client_connections_reused_total"), 9);
    EXPECT_EQ(counted("http_client_connections"), 1);
  });
}

TEST_P(client_test, closes_a_connection_that_nobody_needs) {
  http().get("/", [] { return "here"; });
  run_with_client({.idle_timeout = 20ms}, [&](client& asking) -> task<void> {
    const auto first = co_await asking.get(url("/"));
    while (http().connections() != 0) co_await world().sleep(10ms);
    EXPECT_EQ(counted("http_client_connections"), 0);
    const auto second = co_await asking.get(url("/"));
    EXPECT_EQ(second->body(), "here");
    EXPECT_EQ(counted("http_client_retries_total"), 0);
  });
}

task<void> get_into(client& asking, std::string url, std::vector<std::string>& into) {
  auto answer = co_await asking.get(url);
  into.push_back(answer ? answer->take_body() : answer.error().message());
}

TEST_P(client_test, waits_in_line_for_a_connection) {
  http().get("/{n}", [&](const request& r) -> task<std::string> {
    std::string text{*r.parameter("n")};
    co_await yield{loop()};
    co_return text;
  });
  run_with_client({.connections_per_host = 2}, [&](client& asking) -> task<void> {
    std::vector<std::string> answers;
    scope tasks{co_await this_task::environment()};
    for (int i = 0; i < 9; ++i)
      tasks.spawn(get_into(asking, url("/" + std::to_string(i)), answers));
    co_await tasks.join();
    EXPECT_EQ(answers.size(), 9U);
    EXPECT_LE(http().connections(), 2U);
    EXPECT_EQ(counted("http_client_connections_total"), 2);
  });
}

TEST_P(client_test, leaves_the_line_at_its_deadline) {
  http().get("/slow", [&]() -> task<std::string> {
    std::ignore = co_await sleep_for(loop(), 200ms);
    co_return "slow";
  });
  run_with_client({.connections_per_host = 1}, [&](client& asking) -> task<void> {
    std::vector<std::string> answers;
    scope tasks{co_await this_task::environment()};
    tasks.spawn(get_into(asking, url("/slow"), answers));
    co_await yield{loop()};
    const auto late = co_await with_timeout(20ms, asking.get(url("/slow")));
    EXPECT_EQ(late.error(), errc::timed_out);
    EXPECT_TRUE(late.error().message().contains("none of the 1 connections"))
        << late.error().message();
    co_await tasks.join();
    EXPECT_EQ(answers, std::vector<std::string>{"slow"});
  });
}

TEST_P(client_test, asks_nobody_when_it_is_too_late) {
  http().get("/", [] { return "here"; });
  run_with_client([&](client& asking) -> task<void> {
    const auto late = co_await with_timeout(duration::zero(), asking.get(url("/")));
    EXPECT_EQ(late.error(), errc::timed_out);
    EXPECT_EQ(counted("http_client_connections_total"), 0);
  });
}

TEST_P(client_test, says_that_a_post_has_no_body) {
  http().post("/", [](const request& r) {
    return std::string{r.header("content-length").value_or("none")};
  });
  run_with_client([&](client& asking) -> task<void> {
    const auto answer = co_await asking.send(client_request{method::post, url("/")});
    EXPECT_EQ(answer->body(), "0");
  });
}

TEST_P(client_test, gives_up_at_the_deadline_and_closes_the_connection) {
  http().get("/slow", [&]() -> task<std::string> {
    std::ignore = co_await sleep_for(loop(), 10s);
    co_return "slow";
  });
  http().get("/fast", [] { return "fast"; });
  run_with_client([&](client& asking) -> task<void> {
    const auto late = co_await with_timeout(20ms, asking.get(url("/slow")));
    EXPECT_EQ(late.error(), errc::timed_out);
    EXPECT_TRUE(late.error().message().contains("no response came")) << late.error().message();
    EXPECT_EQ(counted("http_client_connections"), 0);
    const auto next = co_await asking.get(url("/fast"));
    EXPECT_EQ(next->body(), "fast");
    EXPECT_EQ(counted("http_client_connections_reused_total"), 0);
  });
}

TEST_P(client_test, has_a_timeout_of_its_own) {
  http().get("/slow", [&]() -> task<std::string> {
    std::ignore = co_await sleep_for(loop(), 10s);
    co_return "slow";
  });
  run_with_client({.timeout = 20ms}, [&](client& asking) -> task<void> {
    const auto late = co_await asking.get(url("/slow"));
    EXPECT_EQ(late.error(), errc::timed_out);
  });
}

TEST_P(client_test, is_cancelled_with_its_task) {
  http().get("/slow", [&]() -> task<std::string> {
    std::ignore = co_await sleep_for(loop(), 10s);
    co_return "slow";
  });
  run_with_client([&](client& asking) -> task<void> {
    std::vector<std::string> answers;
    scope tasks{co_await this_task::environment()};
    for (int i = 0; i < 3; ++i) tasks.spawn(get_into(asking, url("/slow"), answers));
    co_await world().sleep(20ms);
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_EQ(answers.size(), 3U);
    EXPECT_TRUE(answers[0].contains("cancelled")) << answers[0];
    EXPECT_EQ(counted("http_client_connections"), 0);
  });
}

TEST_P(client_test, says_who_does_not_answer) {
  std::string gone;
  run_with_client([&](client& asking) -> task<void> {
    {
      const auto listener = net::tcp_listener::bind(loop(), net::endpoint::loopback(0));
      gone = weft::format("127.0.0.1:{}", listener->local_endpoint().port());
    }
    co_await world().sleep(1ms);
    const auto answer = co_await asking.get("http://" + gone + "/");
    EXPECT_EQ(answer.error(), errc::refused);
    EXPECT_TRUE(answer.error().message().starts_with("GET http://" + gone + "/: cannot connect to"))
        << answer.error().message();
    EXPECT_EQ(counted("http_client_failures_total"), 1);
  });
}

TEST_P(client_test, stops_with_requests_under_way) {
  http().get("/slow", [&]() -> task<std::string> {
    std::ignore = co_await sleep_for(loop(), 10s);
    co_return "slow";
  });
  run_with_client([&](client& asking) -> task<void> {
    std::vector<std::string> answers;
    scope tasks{co_await this_task::environment()};
    tasks.spawn(get_into(asking, url("/slow"), answers));
    co_await world().sleep(20ms);
    const auto stopped = co_await with_timeout(10ms, asking.stop());
    EXPECT_TRUE(stopped.has_value());
    co_await tasks.join();
    EXPECT_TRUE(answers.at(0).contains("cancelled")) << answers[0];
    const auto late = co_await asking.get(url("/slow"));
    EXPECT_EQ(late.error(), errc::unavailable);
  });
}

}  // namespace
}  // namespace weft::http
