#include <weft/http/client/cookie_jar.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/http/client/set_cookie_text.hpp>

namespace weft::http {
namespace {

constexpr std::int64_t beginning = 1'700'000'000;

class cookie_jar_test : public ::testing::Test {
 protected:
  [[nodiscard]] cookie_jar make(const cookie_jar_options& options = {}) {
    return cookie_jar{[this] { return now_; }, options};
  }
  /// Empty: it is stored.
  static std::string_view refusal(cookie_jar& jar, std::string_view url, std::string_view text) {
    const auto kept = jar.set(url, text);
    return kept ? std::string_view{} : kept.error();
  }
  std::string_view refusal(std::string_view url, std::string_view text) {
    return refusal(jar_, url, text);
  }
  void keep(std::string_view url, std::string_view text) {
    EXPECT_EQ(refusal(url, text), "") << text;
  }
  std::string sent(std::string_view url) { return jar_.header_for(url); }

  std::int64_t now_ = beginning;
  cookie_jar jar_{[this] { return now_; }};
};

TEST_F(cookie_jar_test, gives_back_what_was_set) {
  keep("http://a.test/", "id=7");
  keep("http://a.test/", "theme = dark ; HttpOnly");
  keep("http://a.test/", "quoted=\"a b\"");
  keep("http://a.test/", "empty=");
  EXPECT_EQ(sent("http://a.test/x?y"), "id=7; theme=dark; quoted=\"a b\"; empty=");
  EXPECT_EQ(sent("https://A.TEST:8443/"), "id=7; theme=dark; quoted=\"a b\"; empty=");
  EXPECT_EQ(sent("http://b.test/"), "");
  EXPECT_EQ(sent("http://www.a.test/"), "") << "it is the host's alone";
  EXPECT_EQ(sent("nonsense"), "");
  keep("http://a.test/", "id=8");
  EXPECT_EQ(sent("http://a.test/"), "id=8; theme=dark; quoted=\"a b\"; empty=")
      << "in the place of the first";
  jar_.clear();
  EXPECT_EQ(sent("http://a.test/"), "");
  EXPECT_EQ(jar_.size(), 0U);
}

TEST_F(cookie_jar_test, has_cookies_without_a_name) {
  keep("http://a.test/", "alone");
  keep("http://a.test/", "=alone too");
  EXPECT_EQ(sent("http://a.test/"), "alone too");
  EXPECT_EQ(refusal("http://a.test/", ""), "it is empty");
  EXPECT_EQ(refusal("http://a.test/", " = ; Path=/"), "it is empty");
}

TEST_F(cookie_jar_test, sends_to_a_domain_and_all_below_it) {
  keep("http://www.shop.example/", "a=1; Domain=shop.example");
  keep("http://www.shop.example/", "b=2; Domain=.SHOP.Example");
  keep("http://www.shop.example/", "c=3; Domain=");
  keep("http://shop.example/", "d=4; Domain=shop.example");
  for (const std::string_view url : {"http://shop.example/", "http://x.y.shop.example/"})
    EXPECT_EQ(sent(url), "a=1; b=2; d=4") << url;
  EXPECT_EQ(sent("http://www.shop.example/"), "a=1; b=2; c=3; d=4");
  EXPECT_EQ(sent("http://noshop.example/"), "");
  EXPECT_EQ(sent("http://example/"), "");
}

TEST_F(cookie_jar_test, believes_no_server_about_others) {
  for (const std::string_view domain :
       {"other.example", "a.shop.example", "p.example", "shop.example.", "shop", "127.0.0.1"})
    EXPECT_EQ(refusal("http://shop.example/", "a=1; Domain=" + std::string{domain}),
              "its Domain does not match the host")
        << domain;
  EXPECT_EQ(refusal("http://127.0.0.1/", "a=1; Domain=0.0.1"),
            "its Domain does not match the host");
  EXPECT_EQ(refusal("http://shop.example/", "a=1; Domain=example"),
            "its Domain is a public suffix");
  if (cookie_jar::knows_public_suffixes()) {
    EXPECT_EQ(refusal("http://shop.co.uk/", "a=1; Domain=co.uk"), "its Domain is a public suffix");
    EXPECT_EQ(refusal("http://me.github.io/", "a=1; Domain=github.io"),
              "its Domain is a public suffix");
  }
  EXPECT_EQ(jar_.size(), 0U);
  keep("http://localhost/", "a=1; Domain=localhost");
  keep("http://127.0.0.1/", "b=2; Domain=127.0.0.1");
  EXPECT_EQ(sent("http://localhost/"), "a=1");
  EXPECT_EQ(sent("http://127.0.0.1/"), "b=2");
  EXPECT_EQ(sent("http://x.localhost/"), "") << "a public suffix is a host-only cookie at most";
}

TEST_F(cookie_jar_test, sends_to_paths_below) {
  keep("http://a.test/shop/cart/item", "default=1");
  keep("http://a.test/", "shop=2; Path=/shop");
  keep("http://a.test/", "slash=3; Path=/shop/");
  keep("http://a.test/", "root=4; Path=relative");
  EXPECT_EQ(sent("http://a.test/shop/cart"), "default=1; slash=3; shop=2; root=4")
      << "the longest path first";
  EXPECT_EQ(sent("http://a.test/shop/cart/x"), "default=1; slash=3; shop=2; root=4");
  EXPECT_EQ(sent("http://a.test/shop"), "shop=2; root=4");
  EXPECT_EQ(sent("http://a.test/shopping"), "root=4");
  EXPECT_EQ(sent("http://a.test"), "root=4");
  EXPECT_EQ(sent("http://a.test?shop/"), "root=4");
  EXPECT_EQ(sent("http://a.test/x/../shop"), "shop=2; root=4") << "as it is asked for";
}

TEST_F(cookie_jar_test, keeps_secure_ones_from_http) {
  EXPECT_EQ(refusal("http://a.test/", "a=1; Secure"), "it is Secure, but came over http");
  keep("https://a.test/", "a=1; Secure");
  keep("https://a.test/", "b=2");
  EXPECT_EQ(sent("http://a.test/"), "b=2");
  EXPECT_EQ(sent("https://a.test/"), "a=1; b=2");
  EXPECT_EQ(refusal("http://a.test/", "a=evil"), "it would shadow a secure one");
  EXPECT_EQ(refusal("http://www.a.test/", "a=evil; Domain=a.test"), "it would shadow a secure one");
  EXPECT_EQ(refusal("http://a.test/", "a=evil; Path=/x"), "it would shadow a secure one");
  keep("https://a.test/", "a=5");
  EXPECT_EQ(sent("http://a.test/"), "a=5; b=2");
}

TEST_F(cookie_jar_test, holds_names_to_their_promise) {
  keep("https://a.test/x", "__Host-a=1; Secure; Path=/");
  keep("https://a.test/x", "__Secure-b=2; Secure");
  for (const std::string_view broken :
       {"__Host-a=1; Path=/", "__Host-a=1; Secure", "__Host-a=1; Secure; Path=/x",
        "__host-a=1; Secure; Path=/; Domain=a.test", "__Secure-b=2", "__SECURE-b=2", "__Host-a",
        "=__Secure-b=2; Secure"})
    EXPECT_NE(refusal("https://a.test/x", broken), "") << broken;
  EXPECT_NE(refusal("http://a.test/x", "__Host-a=1; Secure; Path=/"), "");
  EXPECT_EQ(sent("https://a.test/x"), "__Host-a=1; __Secure-b=2");
}

TEST_F(cookie_jar_test, forgets_what_has_expired) {
  keep("http://a.test/", "age=1; Max-Age=60");
  keep("http://a.test/", "date=2; Expires=Tue, 14 Nov 2023 22:14:30 GMT");  // in 70 s
  keep("http://a.test/", "both=3; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=80");
  keep("http://a.test/", "broken=4; Max-Age=soon; Expires=later");
  keep("http://a.test/", "far=5; Max-Age=99999999999999999999");
  EXPECT_EQ(sent("http://a.test/"), "age=1; date=2; both=3; broken=4; far=5");
  now_ += 60;
  EXPECT_EQ(sent("http://a.test/"), "date=2; both=3; broken=4; far=5");
  now_ += 10;
  EXPECT_EQ(sent("http://a.test/"), "both=3; broken=4; far=5");
  now_ += 10;
  EXPECT_EQ(sent("http://a.test/"), "broken=4; far=5");
  now_ += 400LL * 24 * 60 * 60;
  EXPECT_EQ(sent("http://a.test/"), "broken=4") << "400 days at most";
  EXPECT_EQ(jar_.size(), 1U);
}

TEST_F(cookie_jar_test, forgets_what_a_server_takes_back) {
  for (const std::string_view end :
       {"Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"}) {
    keep("http://a.test/", "a=1");
    keep("http://a.test/", "a=; " + std::string{end});
    EXPECT_EQ(jar_.size(), 0U) << end;
  }
  keep("http://a.test/", "a=1");
  keep("http://a.test/", "a=; Path=/other; Max-Age=0");
  EXPECT_EQ(sent("http://a.test/"), "a=1") << "another one";
}

TEST_F(cookie_jar_test, has_the_longest_unused_go_first) {
  cookie_jar small = make({.cookies = 4, .cookies_per_domain = 2});
  for (const std::string_view each : {"a=1", "b=2", "c=3"})
    EXPECT_EQ(refusal(small, "https://a.test/", each), "");
  EXPECT_EQ(small.header_for("https://a.test/"), "b=2; c=3") << "two of a domain";
  EXPECT_EQ(refusal(small, "https://a.test/", "s=4; Secure"), "");
  EXPECT_EQ(refusal(small, "https://a.test/", "d=5"), "");
  EXPECT_EQ(small.header_for("https://a.test/"), "s=4; d=5") << "those without Secure before";
  EXPECT_EQ(refusal(small, "https://b.test/", "e=6"), "");
  EXPECT_EQ(refusal(small, "https://c.test/", "f=7"), "");
  EXPECT_EQ(small.header_for("https://a.test/"), "s=4; d=5");
  EXPECT_EQ(refusal(small, "https://d.test/", "g=8"), "");
  EXPECT_EQ(small.header_for("https://b.test/"), "") << "four in all";
  EXPECT_EQ(small.size(), 4U);
}

TEST_F(cookie_jar_test, has_a_bound_in_bytes) {
  cookie_jar small = make({.bytes = 8 * 1024});
  const std::string large(3000, 'x');
  for (const char* const host : {"a", "b", "c"})
    EXPECT_EQ(refusal(small, std::string{"http://"} + host + ".test/", "v=" + large), "");
  EXPECT_EQ(small.size(), 2U);
  EXPECT_EQ(small.header_for("http://a.test/"), "");
  EXPECT_EQ(refusal(small, "http://a.test/", std::string(4097, 'x')),
            "its name and value have more than 4096 bytes");
  EXPECT_EQ(refusal(small, "http://a.test/", "a=1; Path=/" + std::string(1025, 'x')), "")
      << "an attribute that is too long is passed over";
}

TEST_F(cookie_jar_test, takes_nothing_that_ends_a_line) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"a=1\r\nX: y"sv, "a=\0b"sv, "a\x7f=1"sv, "a=1; Path=/\n"sv, "a=1; x=\x01"sv})
    EXPECT_EQ(refusal("http://a.test/", text), "it has a control character");
  keep("http://a.test/", "tab=a\tb");
}

TEST_F(cookie_jar_test, tells_hosts_apart_as_they_are_asked) {
  keep("http://b\u00fccher.example/", "a=1");
  EXPECT_EQ(sent("http://xn--bcher-kva.example/"), "a=1");
  keep("http://[fe80::1%25eth0]/", "zone=2");
  EXPECT_EQ(sent("http://[FE80::1%eth0]/"), "zone=2");
  EXPECT_EQ(sent("http://[fe80::1%25eth1]/"), "");
  EXPECT_EQ(sent("http://[fe80::1]/"), "");
}

TEST_F(cookie_jar_test, shows_all) {
  keep("https://a.test/x/y", "id=7; Secure; HttpOnly; SameSite=Lax; Max-Age=60");
  ASSERT_EQ(jar_.all().size(), 1U);
  const kept_cookie found = jar_.all().front();
  EXPECT_EQ(found.name, "id");
  EXPECT_EQ(found.value, "7");
  EXPECT_EQ(found.domain, "a.test");
  EXPECT_EQ(found.path, "/x");
  EXPECT_EQ(found.expires, beginning + 60);
  EXPECT_EQ(found.same_site, same_site::lax);
  EXPECT_TRUE(found.host_only && found.secure && found.http_only);
  now_ += 60;
  EXPECT_TRUE(jar_.all().empty());
}

TEST(cookie_date, is_read_loosely) {
  constexpr std::int64_t moment = 784'111'777;
  for (const std::string_view text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "6 november 1994 8:49:37", "1994 Nov 06 08:49:37",
        "08:49:37 6 Nov 94", "Sun, 06-Nov-1994 08:49:37 UTC"})
    EXPECT_EQ(parse_cookie_date(text), moment) << text;
  EXPECT_EQ(parse_cookie_date("Fri, 01-Jan-69 00:00:00 GMT"), 3'124'224'000) << "of this century";
  for (const std::string_view text :
       {"", "tomorrow", "06 Nov 1994", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1600 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT"})
    EXPECT_EQ(parse_cookie_date(text), std::nullopt) << text;
}

}  // namespace
}  // namespace weft::http
