// Redirects: what is asked next, and of whom.
#include <weft/http/client/redirect.hpp>

#include <string>

#include <weft/http/body_reader.hpp>
#include <weft/http/request.hpp>
#include <weft/http/target.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;
using testing::scripted_server;
using testing::take_request;

/// As it is asked for.
std::string resolved(const url_parts& base, std::string_view reference) {
  std::string room;
  const std::string url = resolve_reference(base, reference);
  const auto to = read_url(url, room);
  return to ? origin_text(*to).append(to->target) : "none: " + url;
}

TEST(redirect, means_a_url) {
  const url_parts base = *parse_url("http://a.test:81/b/c/d?q");
  EXPECT_EQ(resolved(base, "https://x.test/y"), "https://x.test/y");
  EXPECT_EQ(resolved(base, "//x.test/y"), "http://x.test/y");
  EXPECT_EQ(resolved(base, "/y?z"), "http://a.test:81/y?z");
  EXPECT_EQ(resolved(base, "y"), "http://a.test:81/b/c/y");
  EXPECT_EQ(resolved(base, "./y?z=/.."), "http://a.test:81/b/c/y?z=/..");
  EXPECT_EQ(resolved(base, "../../../y"), "http://a.test:81/y");
  EXPECT_EQ(resolved(base, "?z"), "http://a.test:81/b/c/d?z");
  EXPECT_EQ(resolved(base, ""), "http://a.test:81/b/c/d?q");
  EXPECT_EQ(resolved(base, "y#f"), "http://a.test:81/b/c/y");
  EXPECT_EQ(resolved(*parse_url("http://a.test"), "y"), "http://a.test/y");
  EXPECT_EQ(resolved(*parse_url("http://a.test?q"), "?r"), "http://a.test?r");
}

TEST(redirect, encodes_what_servers_should_have_encoded) {
  const url_parts base = *parse_url("http://a.test:81/b/c/d?q");
  EXPECT_EQ(resolved(base, "/ok path"), "http://a.test:81/ok%20path");
  EXPECT_EQ(resolved(base, "/caf\xc3\xa9"), "http://a.test:81/caf%C3%A9");
  EXPECT_EQ(resolved(base, "?a=1|2"), "http://a.test:81/b/c/d?a=1%7C2");
  EXPECT_EQ(resolved(base, "y z?[w]#f g"), "http://a.test:81/b/c/y%20z?%5Bw%5D");
  EXPECT_EQ(resolved(base, "http://x.test/a b?{c}"), "http://x.test/a%20b?%7Bc%7D");
  EXPECT_EQ(resolved(base, "//x.test/a b"), "http://x.test/a%20b");
  EXPECT_EQ(resolved(base, "/already%20done"), "http://a.test:81/already%20done");
  EXPECT_EQ(resolved(base, "caf\xc3\xa9:1/y"), "http://a.test:81/b/c/caf%C3%A9:1/y") << "no scheme";
}

TEST(redirect, leads_through_no_dot_segments) {
  const url_parts base = *parse_url("http://a.test:81/b/c/d?q");
  EXPECT_EQ(resolved(base, "http://x.test/a/../b"), "http://x.test/b");
  EXPECT_EQ(resolved(base, "http://x.test/a/./b/."), "http://x.test/a/b/");
  EXPECT_EQ(resolved(base, "http://x.test/../../a/.."), "http://x.test/");
  EXPECT_EQ(resolved(base, "//x.test/a/../b?c/../d"), "http://x.test/b?c/../d");
  EXPECT_EQ(resolved(base, "/../../y"), "http://a.test:81/y");
  EXPECT_EQ(resolved(base, "/e/f/../g?../h"), "http://a.test:81/e/g?../h");
  EXPECT_EQ(resolved(base, ".."), "http://a.test:81/b/");
  EXPECT_EQ(resolved(base, "."), "http://a.test:81/b/c/");
  EXPECT_EQ(resolved(base, "e//../f"), "http://a.test:81/b/c/e/f");
  EXPECT_EQ(resolved(base, "/.hidden/..b/c..d/...//e"), "http://a.test:81/.hidden/..b/c..d/...//e")
      << "no dot segments";
}

TEST(redirect, takes_encoded_dots_for_dots) {
  const url_parts base = *parse_url("http://a.test:81/b/c/d");
  EXPECT_EQ(resolved(base, "/e/%2e%2E/f"), "http://a.test:81/f");
  EXPECT_EQ(resolved(base, "/e/.%2e/%2e/f"), "http://a.test:81/f");
  EXPECT_EQ(resolved(base, "%2e./f"), "http://a.test:81/b/f");
  EXPECT_EQ(resolved(base, "http://x.test/e/%2e%2e/f/%2e"), "http://x.test/f/");
  EXPECT_EQ(resolved(base, "/e/%2e%2e%2fetc"), "http://a.test:81/e/%2e%2e%2fetc")
      << "an encoded slash ends no segment";
  EXPECT_EQ(resolved(base, "/%61/%2E%2Ehidden/./x"), "http://a.test:81/%61/%2E%2Ehidden/x")
      << "all other escapes stay as they are";
}

TEST(redirect, takes_no_backslash_for_a_slash) {
  const url_parts base = *parse_url("http://a.test:81/b/c/d");
  EXPECT_EQ(resolved(base, R"(\\evil.test/x)"), "http://a.test:81/b/c/%5C%5Cevil.test/x");
  EXPECT_EQ(resolved(base, R"(/\evil.test/x)"), "http://a.test:81/%5Cevil.test/x");
  EXPECT_EQ(resolved(base, R"(..\..\x)"), "http://a.test:81/b/c/..%5C..%5Cx");
  EXPECT_TRUE(resolved(base, R"(http://evil.test\@a.test/)").starts_with("none: "));
  EXPECT_TRUE(resolved(base, R"(http:\\evil.test/)").starts_with("none: "));
}

TEST(redirect, keeps_the_zone_of_its_host) {
  url_parts base = *parse_url("http://[fe80::1]:81/b/c");
  base.zone = "eth0";
  EXPECT_EQ(resolved(base, "/y"), "http://[fe80::1%25eth0]:81/y");
  EXPECT_EQ(resolved(base, "y"), "http://[fe80::1%25eth0]:81/b/y");
  EXPECT_EQ(resolved(base, "http://[FE80::1]/y"), "http://[FE80::1%25eth0]/y");
  EXPECT_EQ(resolved(base, "//[fe80::1]:82/y"), "http://[fe80::1%25eth0]:82/y");
  EXPECT_EQ(resolved(base, "http://[fe80::1%25eth1]/y"), "http://[fe80::1%25eth1]/y");
  EXPECT_EQ(resolved(base, "http://[fe80::2]/y"), "http://[fe80::2]/y");
  EXPECT_EQ(resolved(base, "http://x.test/y"), "http://x.test/y");
}

struct redirected_item {
  std::int64_t id = 0;
};

class client_redirects : public client_fixture {
 protected:
  static response to(status code, std::string_view location) {
    response made{code, text_plain, "moved"};
    EXPECT_TRUE(made.add_field("Location", location).has_value());
    return made;
  }
  static constexpr client_options following() { return {.redirects = 3}; }
  static std::string seen(const request& r) {
    return weft::format("{} {} {} {} {}", to_string(r.method()),
                        r.header("authorization").value_or("-"), r.header("x-own").value_or("-"),
                        r.header("content-type").value_or("-"), r.body());
  }
  void serve_ends() {
    http().get("/end", [](const request& r) { return seen(r); });
    http().post("/end", [](const request& r) { return seen(r); });
    http().put("/end", [](const request& r) { return seen(r); });
  }
  static client_request asking_for(method how, std::string url) {
    return client_request{how, std::move(url)}
        .header("Authorization", "secret")
        .header("X-Own", "kept")
        .body("text", text_plain);
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_redirects, backends, backend_name);

TEST_P(client_redirects, are_answers_unless_they_are_to_be_followed) {
  http().get("/", [] { return to(status::found, "/end"); });
  run_with_client([&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(url("/"));
    EXPECT_EQ(answer->status(), status::found);
    EXPECT_EQ(answer->header("location"), "/end");
  });
}

TEST_P(client_redirects, are_followed_over_the_same_connection) {
  http().get("/", [] { return to(status::found, "next/"); });
  http().get("/next/", [] { return to(status::permanent_redirect, "../item?x"); });
  http().get("/item", [] { return redirected_item{7}; });
  run_with_client(following(), [&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(url("/"));
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->body(), "{\"id\":7}");
    const auto item = co_await asking.get<redirected_item>(url("/"));
    EXPECT_EQ(item->id, 7);
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_P(client_redirects, change_the_method_as_the_status_says) {
  serve_ends();
  for (const auto code : {status::moved_permanently, status::found, status::see_other,
                          status::temporary_redirect, status::permanent_redirect}) {
    const std::string path = weft::format("/{}", std::to_underlying(code));
    http().post(path, [code](const request&) { return to(code, "/end"); });
    http().put(path, [code](const request&) { return to(code, "/end"); });
  }
  run_with_client(following(), [&](client& asking) -> task<void> {
    const auto ask = [&](method how, std::string_view path) -> task<std::string> {
      auto answer = co_await asking.send(asking_for(how, url(path)));
      co_return answer ? answer->take_body() : answer.error().message();
    };
    constexpr std::string_view as_get = "GET secret kept - ";
    constexpr std::string_view as_post = "POST secret kept text/plain; charset=utf-8 text";
    constexpr std::string_view as_put = "PUT secret kept text/plain; charset=utf-8 text";
    EXPECT_EQ(co_await ask(method::post, "/301"), as_get);
    EXPECT_EQ(co_await ask(method::post, "/302"), as_get);
    EXPECT_EQ(co_await ask(method::post, "/303"), as_get);
    EXPECT_EQ(co_await ask(method::post, "/307"), as_post);
    EXPECT_EQ(co_await ask(method::post, "/308"), as_post);
    EXPECT_EQ(co_await ask(method::put, "/301"), as_put);
    EXPECT_EQ(co_await ask(method::put, "/302"), as_put);
    EXPECT_EQ(co_await ask(method::put, "/303"), as_get);
    EXPECT_EQ(co_await ask(method::put, "/307"), as_put);
  });
}

TEST_P(client_redirects, are_followed_to_what_is_not_encoded) {
  http().get("/space", [] { return to(status::found, "/ok path"); });
  http().get("/accent", [] { return to(status::found, "/caf\xc3\xa9"); });
  http().get("/bar", [] { return to(status::found, "?a=1|2"); });
  http().get("/{name}", [](const request& r) {
    return weft::format("{} {}", r.target(), *percent_decode(*r.parameter("name")));
  });
  http().get("/", [](const request& r) { return std::string{r.target()}; });
  run_with_client(following(), [&](client& asking) -> task<void> {
    EXPECT_EQ((co_await asking.get(url("/space")))->body(), "/ok%20path ok path");
    EXPECT_EQ((co_await asking.get(url("/accent")))->body(), "/caf%C3%A9 caf\xc3\xa9");
    const auto round = co_await asking.get(url("/bar"));
    EXPECT_EQ(round.error(), errc::limit_exceeded) << "it leads to itself";
    EXPECT_TRUE(round.error().message().contains("?a=1")) << round.error().message();
  });
}

TEST_P(client_redirects, are_followed_to_paths_without_dots) {
  http().get("/away", [&] { return to(status::found, url("/x/../y/./z/..?a=/../b")); });
  http().get("/near", [] { return to(status::found, "x/%2E%2e/y"); });
  http().get("/{*rest}", [](const request& r) { return std::string{r.target()}; });
  run_with_client(following(), [&](client& asking) -> task<void> {
    EXPECT_EQ((co_await asking.get(url("/away")))->body(), "/y/?a=/../b");
    EXPECT_EQ((co_await asking.get(url("/near")))->body(), "/y");
  });
}

TEST_P(client_redirects, take_no_credentials_to_another_origin) {
  serve_ends();
  const auto lead = [&](unsigned, peer& from) -> task<void> {
    while (co_await take_request(from))
      co_await from.send(weft::format(
          "HTTP/1.1 307 There\r\nContent-Length: 0\r\nLocation: {}\r\n\r\n", url("/end")));
  };
  run_against(lead, following(), [&](client& asking, scripted_server& server) -> task<void> {
    const auto answer = co_await asking.send(client_request{method::get, server.url()}
                                                 .header("authorization", "secret")
                                                 .header("X-Own", "kept"));
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->body(), "GET - kept - ");
  });
}

TEST_P(client_redirects, end_somewhere) {
  http().get("/round", [] { return to(status::found, "/round"); });
  http().get("/nowhere", [] { return to(status::found, "ftp://a.test/"); });
  run_with_client(following(), [&](client& asking) -> task<void> {
    const auto round = co_await asking.get(url("/round"));
    EXPECT_EQ(round.error(), errc::limit_exceeded);
    EXPECT_TRUE(round.error().message().contains("more than 3 times")) << round.error().message();
    const auto nowhere = co_await asking.get(url("/nowhere"));
    EXPECT_EQ(nowhere.error(), errc::protocol_error);
    EXPECT_TRUE(nowhere.error().message().contains("ftp://a.test/")) << nowhere.error().message();
  });
}

}  // namespace
}  // namespace weft::http
