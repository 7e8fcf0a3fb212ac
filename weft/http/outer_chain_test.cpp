#include <weft/http/outer_chain.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;
using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::in_memory;

constexpr std::string_view chain_service = "a service with a middleware";

class outer_chain_test : public each_backend {};
INSTANTIATE_TEST_SUITE_P(on, outer_chain_test, backends, backend_name);

auto marked(std::string name) {
  return [name](exchange& e, handler& next) {
    EXPECT_TRUE(e.add_field("X-Seen-By", name).has_value());
    next(e);
  };
}

TEST_P(outer_chain_test, is_around_routes_and_what_has_none) {
  http().get("/there", [] { return "here"; });
  http().wrap_all(marked("first"));
  http().wrap_all(marked("second"));
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const auto& [method, path, status] :
         {std::tuple{"GET", "/there", 200}, std::tuple{"HEAD", "/there", 200},
          std::tuple{"GET", "/nowhere", 404}, std::tuple{"POST", "/there", 405},
          std::tuple{"OPTIONS", "/there", 204}, std::tuple{"OPTIONS", "*", 204}}) {
      const auto reply = co_await client.ask(method, path);
      EXPECT_EQ(reply.status, status) << method << ' ' << path;
      const std::size_t first = reply.head.find("X-Seen-By: first\r\n");
      const std::size_t second = reply.head.find("X-Seen-By: second\r\n");
      EXPECT_NE(first, std::string::npos) << reply.head;
      EXPECT_LT(first, second) << "the first added is the outermost";
      EXPECT_NE(second, std::string::npos) << reply.head;
    }
  });
}

TEST_P(outer_chain_test, may_answer_itself) {
  bool is_asked = false;
  http().get("/", [&] { is_asked = true; });
  http().wrap_all(
      [](exchange& e, handler&) { e.reply_problem(status::service_unavailable, "not today"); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 503);
    EXPECT_EQ((co_await client.ask("GET", "/nowhere")).status, 503);
    EXPECT_FALSE(is_asked);
  });
}

TEST_P(outer_chain_test, may_wait_before_and_after) {
  std::vector<status> seen;
  event_loop& turning = loop();
  http().get("/late", [&turning]() -> task<std::string> {
    co_await yield{turning};
    co_return "late";
  });
  http().wrap_all([&](exchange& e, handler& next) -> task<void> {
    co_await yield{turning};
    co_await e.run(next);
    seen.push_back(e.replied_with().value());
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/late")).body, "late");
    EXPECT_EQ((co_await client.ask("GET", "/nowhere")).status, 404);
    EXPECT_EQ(seen, (std::vector{status::ok, status::not_found}));
  });
}

TEST_P(outer_chain_test, sees_bodies_stream_through) {
  http().post("/echo", [](body_reader& in, body_writer& out) -> task<result<void>> {
    out.start({status::ok, application_octet_stream, {}}, in.length());
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
  http().wrap_all(marked("all"));
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string body(100'000, 'x');
    const auto reply = co_await client.ask("POST", "/echo", body);
    EXPECT_EQ(reply.field("X-Seen-By"), "all");
    EXPECT_TRUE(reply.body == body) << reply.body.size();
  });
}

TEST_P(outer_chain_test, hears_of_every_reply_once) {
  std::vector<std::pair<status, std::uint64_t>> seen;
  event_loop& turning = loop();
  http().get("/now", [] { return "now"; });
  http().get("/late", [&turning]() -> task<std::string> {
    co_await yield{turning};
    co_return "later";
  });
  http().get("/throws", []() -> std::string { throw std::runtime_error{"on purpose"}; });
  http().get("/throws-late", [&turning]() -> task<std::string> {
    co_await yield{turning};
    throw std::runtime_error{"on purpose"};
  });
  http().get("/streams", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, application_octet_stream, {}}, 9);
    co_return co_await out.write("in pieces");
  });
  http().route(method::get, "/mute", [](exchange&) {});
  http().wrap_all([&](exchange& e, handler& next) {
    e.run_then(next, [&] { seen.emplace_back(e.replied_with().value(), e.body_bytes()); });
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    std::vector<int> got;
    for (const char* path :
         {"/now", "/late", "/throws", "/throws-late", "/streams", "/mute", "/nowhere"})
      got.push_back((co_await client.ask("GET", path)).status);
    got.push_back((co_await client.ask("HEAD", "/now")).status);
    EXPECT_EQ(got.size(), seen.size());
    seen.resize(got.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(std::to_underlying(seen[i].first), got[i]) << i;
    EXPECT_EQ(seen[0].second, 3U);
    EXPECT_EQ(seen[1].second, 5U);
    EXPECT_EQ(seen[4].second, 9U);
    EXPECT_GT(seen[6].second, 0U);
    EXPECT_EQ(seen[7].second, 0U) << "HEAD has no body";
  });
}

TEST_P(outer_chain_test, ends_with_its_service) {
  std::optional<lifetime> own{chain_service};
  http().wrap_all(marked("server"), nullptr);
  http().wrap_all(marked("service"), &*own);
  http().wrap_all(marked("innermost"), nullptr);
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_NE((co_await client.ask("GET", "/")).head.find("service\r\n"), std::string::npos);
    own->request_end();
    EXPECT_TRUE(own->idle()) << "nobody waits";
    const auto later = co_await client.ask("GET", "/");
    EXPECT_EQ(later.head.find("service\r\n"), std::string::npos);
    EXPECT_LT(later.head.find("server\r\n"), later.head.find("innermost\r\n"));
  });
}

TEST_P(outer_chain_test, is_kept_with_its_service_while_a_request_waits) {
  auto alive = std::make_shared<int>();
  std::optional<lifetime> own{chain_service};
  std::optional<exchange*> inside;
  bool may_go_on = false;
  event_loop& turning = loop();
  http().get("/", [] { return "here"; });
  http().wrap_all(
      [&, alive](exchange& e, handler& next) -> task<void> {
        inside = &e;
        while (!may_go_on) co_await yield{turning};
        co_await e.run(next);
        EXPECT_EQ(*alive, 0);
      },
      &*own);
  http().wrap_all(marked("inner"), &*own);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    while (!inside) co_await yield{turning};
    own->request_end();
    EXPECT_FALSE(own->idle()) << "a request waits inside";
    auto other = co_await world().connect();
    EXPECT_EQ((co_await other.ask("GET", "/")).body, "here") << "others pass by";
    EXPECT_EQ(alive.use_count(), 2);
    may_go_on = true;
    const auto reply = co_await client.receive();
    EXPECT_NE(reply.find("here"), std::string::npos) << reply;
    EXPECT_EQ(reply.find("X-Seen-By: inner"), std::string::npos) << "it had not come so far";
    co_await own->ended();
    EXPECT_EQ(alive.use_count(), 1);
    own.reset();
  });
}

TEST_P(outer_chain_test, may_end_within_a_call_of_its_own) {
  std::optional<lifetime> own{chain_service};
  http().get("/", [&] {
    own->request_end();
    return "ended";
  });
  http().wrap_all(marked("before"), &*own);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/")).field("X-Seen-By"), "before");
    EXPECT_FALSE((co_await client.ask("GET", "/nowhere")).field("X-Seen-By").has_value());
  });
}

TEST_P(outer_chain_test, may_grow_while_a_request_waits) {
  std::optional<lifetime> late{chain_service};
  bool is_inside = false;
  bool may_go_on = false;
  event_loop& turning = loop();
  http().get("/", [] { return "here"; });
  http().wrap_all(
      [&](exchange& e, handler& next) -> task<void> {
        is_inside = true;
        while (!may_go_on) co_await yield{turning};
        co_await e.run(next);
      },
      nullptr);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    while (!is_inside) co_await yield{turning};
    http().wrap_all(marked("late"), &*late);
    http().wrap_all(marked("last"), nullptr);
    late->request_end();
    may_go_on = true;
    const auto reply = co_await client.receive();
    EXPECT_EQ(reply.find("X-Seen-By: late"), std::string::npos) << reply;
    EXPECT_NE(reply.find("X-Seen-By: last"), std::string::npos) << reply;
    co_await late->ended();
  });
}

}  // namespace
}  // namespace weft::http
