// Runs the cases of tests/conformance/http1/ against a server, on each backend, as a client would
// see it: whole, cut in two at every byte, and with much more behind what closes the connection.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/sanitizers.hpp>
#include <weft/base/units.hpp>
#include <weft/testing/http_fixture.hpp>

#include <tests/conformance/conformance_case.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::http_client;
using testing::http_reply;
using testing::plain_get;
using testing::repeated;

struct sum {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

/// `routes: echo`, the default: any path, whatever the method.
void add_echo(server& to) {
  const auto echo = [](const request& asked) {
    return std::string{to_string(asked.method())}
        .append(" ")
        .append(asked.path())
        .append("\n")
        .append(asked.body());
  };
  to.get("/{*path}", echo).post("/{*path}", echo).put("/{*path}", echo);
  to.patch("/{*path}", echo).del("/{*path}", echo);
}

/// `routes: services`: what a program may do with a request, and paths that nobody serves.
void add_services(server& to, event_loop& loop) {
  to.get("/orders/{id}", [](const request& asked) { return std::string{*asked.parameter("id")}; });
  to.del("/orders/{id}", [](const request&) {});
  to.post("/sum", [](sum of) { return of.a + of.b; });
  to.post("/size", [](const request& asked) { return asked.body().size(); });
  to.post("/field/{name}", [](const request& asked) {
    return std::string{asked.header(*asked.parameter("name")).value_or("none")};
  });
  to.post("/throws", [](const request&) -> std::string { throw std::runtime_error{"on purpose"}; });
  to.post("/unsupported",
          [](const request&) -> result<std::string> { return fail(errc::unsupported); });
  to.post("/unavailable",
          [](const request&) -> result<std::string> { return fail(errc::unavailable); });
  to.get("/unchanged", [] { return response::empty(status::not_modified); });
  to.get("/large", [] { return std::string(20'000, 'b'); });
  to.get("/late", [&loop]() -> task<std::string> {
    for (int i = 0; i < 3; ++i) co_await yield{loop};
    co_return "late";
  });
}

/// A client that plays one case and notes whatever is not as it should be.
class player {
 public:
  player(http_client client, event_loop& loop, const conformance_case& one)
      : client_{std::move(client)}, loop_{loop}, case_{one} {}

  /// Empty: all is well.
  task<std::string> play(std::span<const std::size_t> cuts, std::string_view behind) {
    std::size_t sent = 0;
    for (const std::size_t cut : cuts) {
      co_await send_to(sent, cut);
      sent = std::max(sent, cut);
    }
    behind_ = behind;
    co_await send_to(sent, case_.bytes.size());
    co_await hear(case_.replies.size());
    co_await check_end();
    co_return complaints_;
  }

 private:
  /// The bytes from `sent` to `end`, waiting for replies where the case says so.
  task<void> send_to(std::size_t sent, std::size_t end) {
    for (const auto& [offset, replies] : case_.awaits) {
      if (offset <= sent || offset > end) continue;
      co_await send(sent, offset);
      co_await hear(replies);
      sent = offset;
    }
    co_await send(sent, end);
  }

  /// Returns when the server has had the time to see these bytes by themselves. What comes behind
  /// the case leaves together with its end: a server that has been asked to close may have done so
  /// before more comes.
  task<void> send(std::size_t begin, std::size_t end) {
    const bool is_last = end == case_.bytes.size();
    if (begin >= end && (!is_last || behind_.empty())) co_return;
    std::string text = case_.bytes.substr(begin, end - begin);
    if (is_last) text += behind_;
    co_await client_.send(text);
    if (!is_last) co_await turn();
  }

  task<void> turn() {
    for (int i = 0; i < 4; ++i) co_await yield{loop_};
  }

  task<void> hear(std::size_t replies) {
    while (heard_ < replies) {
      const expected_reply& expected = case_.replies[heard_++];
      http_reply got = co_await client_.reply(expected.to_head);
      if (expected.is_optional && got.status != expected.status) {
        check(case_.replies[heard_++], got);
        continue;
      }
      check(expected, got);
    }
  }

  void check(const expected_reply& expected, const http_reply& got) {
    expect(got.status == expected.status, "status " + std::to_string(expected.status), got);
    for (const std::string& line : expected.lines)
      expect(got.head.contains("\r\n" + line + "\r\n"), line, got);
    for (const std::string& name : expected.absent)
      expect(!got.field(name).has_value(), "no " + name, got);
    if (expected.content) expect(got.body == *expected.content, *expected.content, got);
    expect(got.body.starts_with(expected.content_begins), expected.content_begins, got);
    expect(got.body.ends_with(expected.content_ends), expected.content_ends, got);
    if (expected.status < 200) return;
    expect(got.field("Date").has_value(), "Date", got);
    const auto length = got.field("Content-Length");
    if (expected.status == 204 || expected.status == 304) {
      expect(!length || expected.status == 304, "no Content-Length", got);
      return;
    }
    expect(length.has_value(), "Content-Length", got);
    if (!expected.to_head)
      expect(length == std::to_string(got.body.size()), "content of that length", got);
  }

  task<void> check_end() {
    if (case_.end == expected_end::open) {
      const http_reply next = co_await client_.ask("GET", "/orders/next");
      expect(next.status == 200 && next.body.contains("next"), "the next request answered", next);
      co_return;
    }
    if (case_.end == expected_end::waiting) {
      co_await turn();
      (void)co_await client_.stream().shutdown();
    }
    const std::string rest = co_await client_.rest();
    if (!rest.empty()) complaints_ += "unexpected: " + rest + "\n";
    if (case_.end == expected_end::closed && client_.last_error() != errc::closed)
      complaints_ += "not closed in order: " + std::string{client_.last_error().message()} + "\n";
  }

  void expect(bool holds, const std::string& what, const http_reply& got) {
    if (!holds) complaints_ += "not " + what + "\nbut   " + got.head + got.body + "\n";
  }

  http_client client_;
  event_loop& loop_;
  const conformance_case& case_;
  std::size_t heard_ = 0;
  std::string_view behind_;
  std::string complaints_;
};

class conformance_server : public testing::each_backend {
 protected:
  using visitor = std::function<task<void>(const conformance_case&)>;

  /// Cases that want the same server share one; those with limits of their own have their own.
  void for_each_case(const visitor& visit) {
    for (const std::string_view routes : {"echo", "services"}) {
      std::vector<const conformance_case*> shared;
      for (const conformance_case& one : conformance_cases()) {
        if (one.routes != routes) continue;
        if (one.has_own_bounds)
          serve_cases({&one}, visit);
        else
          shared.push_back(&one);
      }
      serve_cases(shared, visit);
    }
  }

  /// Whether all went well.
  task<bool> play(const conformance_case& one, std::span<const std::size_t> cuts = {},
                  std::string_view behind = {}) {
    player client{co_await world().connect(), loop(), one};
    const std::string complaints = co_await client.play(cuts, behind);
    EXPECT_EQ(complaints, "") << one.file << ": " << one.name << (cuts.empty() ? "" : ", cut at ")
                              << (cuts.empty() ? "" : std::to_string(cuts[0]));
    co_return complaints.empty();
  }

 private:
  void serve_cases(const std::vector<const conformance_case*>& cases, const visitor& visit) {
    // What begins as HTTP/2 does is a case, too.
    serve(GetParam(),
          server_options{
              .drain_idle = duration::zero(), .http2 = false, .limits = cases.front()->bounds});
    if (cases.front()->routes == "echo")
      add_echo(http());
    else
      add_services(http(), loop());
    run([&]() -> task<void> {
      for (const conformance_case* one : cases) co_await visit(*one);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, conformance_server, backends, backend_name);

TEST_P(conformance_server, whole) {
  for_each_case([this](const conformance_case& one) -> task<void> { co_await play(one); });
}

TEST_P(conformance_server, cut_at_every_byte) {
  constexpr std::size_t coarse = WEFT_SANITIZED ? 7 : 1;
  for_each_case([this](const conformance_case& one) -> task<void> {
    const std::size_t stride = one.bytes.size() < 300 ? coarse : 397;
    // Begins elsewhere for each case, so that a coarse stride leaves no offset out in all of them.
    for (std::size_t cut = 1 + one.name.size() % stride; cut < one.bytes.size(); cut += stride)
      if (!co_await play(one, {&cut, 1})) co_return;
  });
}

TEST_P(conformance_server, byte_by_byte) {
  for_each_case([this](const conformance_case& one) -> task<void> {
    if (one.bytes.size() >= 300) co_return;
    std::vector<std::size_t> cuts;
    for (std::size_t cut = 1; cut < one.bytes.size(); ++cut) cuts.push_back(cut);
    co_await play(one, cuts);
  });
}

// The client must read the whole reply and a proper end, though it had sent much more by then.
TEST_P(conformance_server, much_behind_what_closes) {
  const std::string behind = repeated(plain_get, 200_KiB / plain_get.size());
  for_each_case([this, &behind](const conformance_case& one) -> task<void> {
    if (one.end == expected_end::closed) co_await play(one, {}, behind);
  });
}

}  // namespace
}  // namespace weft::http
