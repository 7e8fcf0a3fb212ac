#include <weft/http/server_counts.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weft/http/metrics_page.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;

class server_counts_test : public testing::in_memory {
 protected:
  [[nodiscard]] std::int64_t value(std::string_view name,
                                   std::initializer_list<telemetry::label> labels = {}) {
    const telemetry::snapshot seen = world().metrics().read();
    const telemetry::series* const found = seen.find(name, labels);
    return found == nullptr ? -1 : found->value;
  }
  [[nodiscard]] std::int64_t replies(std::string_view status_class) {
    return value("http_replies_total", {{"class", status_class}});
  }
};

TEST_F(server_counts_test, counts_replies_by_class_whoever_gave_them) {
  http().get("/", [] { return "12345"; });
  http().get("/moved", [] { return response{status::found, "text/plain", "there"}; });
  http().get("/broken", []() -> result<void> { return fail(errc::unsupported); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "12345");
    EXPECT_EQ((co_await client.ask("HEAD", "/")).status, 200);
    EXPECT_EQ(value("http_reply_body_bytes_total"), 5) << "HEAD has no body";
    EXPECT_EQ((co_await client.ask("GET", "/moved")).body, "there");
    EXPECT_EQ((co_await client.ask("GET", "/nowhere")).status, 404);
    EXPECT_EQ((co_await client.ask("GET", "/broken")).status, 501);
    auto rude = co_await world().connect();
    co_await rude.send("no request at all\r\n\r\n");
    EXPECT_EQ((co_await rude.reply()).status, 400);
  });
  EXPECT_EQ(replies("2xx"), 2);
  EXPECT_EQ(replies("3xx"), 1);
  EXPECT_EQ(replies("4xx"), 2);
  EXPECT_EQ(replies("5xx"), 1);
}

TEST_F(server_counts_test, counts_connections_and_those_that_are_refused) {
  serve_within({.connections = 2});
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    auto first = co_await world().connect();
    auto second = co_await world().connect();
    EXPECT_EQ((co_await first.ask("GET", "/")).status, 200);
    EXPECT_EQ((co_await second.ask("GET", "/")).status, 200);
    EXPECT_EQ(value("http_connections"), 2);
    auto third = co_await world().connect();
    EXPECT_EQ((co_await third.reply()).status, 503);
  });
  EXPECT_EQ(value("http_connections"), 0);
  EXPECT_EQ(value("http_connections_total"), 3);
  EXPECT_EQ(value("http_connections_refused_total"), 1);
  EXPECT_EQ(replies("5xx"), 1);
}

TEST_F(server_counts_test, counts_bytes_of_bodies_however_they_come) {
  http().post("/whole", [](const request& r) { return r.body().size(); });
  http().post("/echo", [](body_reader& in, body_writer& out) -> task<result<void>> {
    out.start({status::ok, application_octet_stream, {}}, in.length());
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
  const std::string body(50'000, 'x');
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("POST", "/whole", body)).body, "50000");
    const std::int64_t received = value("http_received_bytes_total");
    EXPECT_GT(received, 50'000);
    EXPECT_LT(received, 50'200) << "and a head";
    const auto echoed = co_await client.ask("POST", "/echo", body);
    EXPECT_TRUE(echoed.body == body) << echoed.body.size();
    EXPECT_GT(value("http_received_bytes_total"), received + 50'000);
    EXPECT_EQ(value("http_reply_body_bytes_total"), 5 + 50'000);
  });
}

TEST_F(server_counts_test, measures_how_long_handlers_wait) {
  http().get("/now", [] { return "now"; });
  http().get("/late", [this]() -> task<std::string> {
    co_await world().sleep(milliseconds{20});
    co_return "late";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/now")).status, 200);
    EXPECT_EQ((co_await client.ask("GET", "/late")).status, 200);
  });
  const telemetry::snapshot seen = world().metrics().read();
  const telemetry::series* const waits = seen.find("http_handler_wait_ns");
  ASSERT_NE(waits, nullptr);
  EXPECT_EQ(waits->value, 1) << "one waited";
  EXPECT_GE(waits->values.max(), 20'000'000U);
}

TEST_F(server_counts_test, stands_on_the_page_for_prometheus) {
  const metrics_page page{{}, http(), world().metrics()};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/nowhere")).status, 404);
    const std::string text = (co_await client.ask("GET", "/metrics")).body;
    EXPECT_NE(text.find("\nhttp_connections 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nhttp_replies_total{class=\"4xx\"} 1\n"), std::string::npos) << text;
  });
}

}  // namespace
}  // namespace weft::http
