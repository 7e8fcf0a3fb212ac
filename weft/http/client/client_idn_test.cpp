// Internationalized hosts. A proxy shows which names are sent.
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/request.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;

class client_idn : public client_fixture {
 protected:
  template <class F>
  void run_through_proxy(client_options options, F body) {
    http().get("/{*rest}", [](const request& r) {
      return weft::format("{} {}", r.header("host").value_or("nobody"), r.target());
    });
    run_with_client([&](client&) -> task<void> {
      options.proxy = url("/");
      client asking{std::move(options), loop(), world().metrics().shard(0)};
      co_await body(asking);
      const auto stopped = co_await asking.stop();
      EXPECT_TRUE(stopped.has_value());
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_idn, backends, backend_name);

TEST_P(client_idn, is_sent_as_dns_has_it) {
  run_through_proxy({}, [&](client& asking) -> task<void> {
    for (const auto& [host, ascii] :
         {std::pair{"b\xc3\xbc"
                    "cher.example",
                    "xn--bcher-kva.example"},
          std::pair{"B\xc3\x9c"
                    "CHER.Example",
                    "xn--bcher-kva.example"},
          std::pair{"b%C3%BCcher.example", "xn--bcher-kva.example"},
          std::pair{"bu\xcc\x88"
                    "cher.example",
                    "xn--bcher-kva.example"},
          std::pair{"fa\xc3\x9f.example", "xn--fa-hia.example"},
          std::pair{"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x80\x82\xef\xbc\xaa\xef\xbc\xb0",
                    "xn--wgv71a119e.jp"},
          std::pair{"\xef\xbd\x85xample.test", "example.test"},
          std::pair{"ex%61mple.test", "example.test"}}) {
      const auto answer = co_await asking.get(weft::format("http://{}:8080/x?y", host));
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      if (answer)
        EXPECT_EQ(answer->body(), weft::format("{}:8080 http://{}:8080/x?y", ascii, ascii));
    }
  });
}

TEST_P(client_idn, in_a_redirect_is_followed) {
  http().get("/lead", [] {
    response made{status::found, text_plain, "moved"};
    EXPECT_TRUE(made.add_field("Location",
                               "http://b\xc3\xbc"
                               "cher.example/x")
                    .has_value());
    return made;
  });
  run_through_proxy({.redirects = 2}, [&](client& asking) -> task<void> {
    const auto answer = co_await asking.get("http://a.test/lead");
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    if (answer) EXPECT_TRUE(answer->body().starts_with("xn--bcher-kva.example ")) << answer->body();
  });
}

TEST_P(client_idn, that_is_none_is_named) {
  run_through_proxy({}, [&](client& asking) -> task<void> {
    for (const auto& [host, label] :
         {std::pair{"www.-\xc3\xbc.test", "-\xc3\xbc"}, std::pair{"www.\xff.test", "label"},
          std::pair{"\xc3\xbc..test", "empty"},
          std::pair{"a\xe2\x84\x80"
                    "b.test",
                    "a\xe2\x84\x80"
                    "b"},
          std::pair{"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", "address"},
          std::pair{"a%2Fb.test", "host"}, std::pair{"a%00b.test", "host"},
          std::pair{"a%40b.test", "host"}}) {
      const auto answer = co_await asking.get(weft::format("http://{}/x", host));
      EXPECT_FALSE(answer.has_value()) << host;
      if (answer) continue;
      EXPECT_EQ(answer.error(), errc::invalid_argument) << answer.error().message();
      EXPECT_TRUE(answer.error().message().contains(label)) << answer.error().message();
    }
    const std::string long_label = "http://www." + std::string(60, 'a') + "\xc3\xbc.test/";
    const auto answer = co_await asking.get(long_label);
    EXPECT_EQ(answer.error(), errc::invalid_argument) << answer.error().message();
  });
}

TEST_P(client_idn, may_be_asked_without_a_proxy) {
  const client_options options{.proxy = "http://127.0.0.1:1",
                               .no_proxy = {"b\xc3\xbc"
                                            "cher.test",
                                            ".\xc3\xbc.test"}};
  run_with_client(options, [&](client& asking) -> task<void> {
    for (const std::string_view host : {"b\xc3\xbc"
                                        "cher.test",
                                        "xn--bcher-kva.test", "a.\xc3\xbc.test"}) {
      const auto answer = co_await asking.get(weft::format("http://{}:1/", host));
      EXPECT_FALSE(answer.has_value());
      if (!answer)
        EXPECT_FALSE(answer.error().message().contains("proxy: ")) << answer.error().message();
    }
  });
}

}  // namespace
}  // namespace weft::http
