#include <weft/http/client/url.hpp>
#include <weft/http/client/client_options.hpp>

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(url, is_taken_apart) {
  const auto to = parse_url("http://orders.example:8080/orders?open=1#top");
  ASSERT_TRUE(to.has_value());
  EXPECT_EQ(to->scheme, scheme::http);
  EXPECT_EQ(to->host, "orders.example");
  EXPECT_EQ(to->port, 8080);
  EXPECT_EQ(to->authority, "orders.example:8080");
  EXPECT_EQ(to->target, "/orders?open=1");
}

TEST(url, has_the_port_of_its_scheme) {
  EXPECT_EQ(parse_url("http://a/")->port, 80);
  EXPECT_EQ(parse_url("HTTPS://a/")->port, 443);
  EXPECT_EQ(parse_url("https://a:/")->port, 443);
  EXPECT_EQ(parse_url("http://a:080/")->port, 80);
  EXPECT_EQ(parse_url("http://a:0000008080/")->port, 8080);
  EXPECT_EQ(parse_url("http://[::1]:0065535/")->port, 65535);
  for (const std::string_view bad : {"http://a:0000065536/", "http://a:000000/", "http://a:0x50/"})
    EXPECT_FALSE(parse_url(bad)) << bad;
}

TEST(url, may_lack_a_path) {
  EXPECT_EQ(parse_url("http://a")->target, "");
  EXPECT_EQ(parse_url("http://a?b=c")->target, "?b=c");
  EXPECT_EQ(parse_url("http://a?b=c")->host, "a");
  EXPECT_EQ(parse_url("http://a#b")->host, "a");
}

TEST(url, shows_an_ipv6_address_without_brackets) {
  const auto to = parse_url("http://[::1]:81/");
  EXPECT_EQ(to->host, "::1");
  EXPECT_EQ(to->port, 81);
  EXPECT_EQ(to->authority, "[::1]:81");
  EXPECT_EQ(parse_url("https://[::1]/")->port, 443);
}

TEST(url, may_have_more_behind_its_host_than_uris_have) {
  for (const std::string_view target : {"/a[b]", "/a|b^c`", "/a?{b}", R"(/a"<b>)", R"(/a\b?\)",
                                        "/caf\xc3\xa9", "/\xff", "/b c", "?a=1|2"}) {
    const std::string text = "http://a" + std::string{target};
    const auto to = parse_url(text);
    ASSERT_TRUE(to.has_value()) << target << ": " << to.error();
    EXPECT_EQ(to->host, "a");
    EXPECT_EQ(to->target, target);
    EXPECT_FALSE(to->is_resolved) << target;
  }
  EXPECT_TRUE(parse_url("http://a/b?c=%20")->is_resolved);
  EXPECT_TRUE(parse_url("http://a")->is_resolved);
}

TEST(url, may_have_dot_segments_in_its_path) {
  for (const std::string_view target : {"/.", "/..", "/a/../b", "/a/%2E./b", "/a/%2e?b"})
    EXPECT_FALSE(parse_url("http://a" + std::string{target})->is_resolved) << target;
  for (const std::string_view target :
       {"/.a", "/a.", "/...", "/a/..b/", "/%2e%2e%2e", "/%2f..", "/a?/../b", "?/../b"})
    EXPECT_TRUE(parse_url("http://a" + std::string{target})->is_resolved) << target;
}

TEST(url, may_have_a_zone) {
  for (const auto& [text, zone] :
       {std::pair{"http://[fe80::1%25eth0]:81/x", "eth0"},
        std::pair{"http://[fe80::1%eth0]:81/x", "eth0"},
        std::pair{"http://[fe80::1%25br-lan.7]:81/x", "br-lan.7"},
        std::pair{"http://[fe80::1%25eth%30]:81/x", "eth0"},
        std::pair{"http://[fe80::1%253]:81/x", "3"}, std::pair{"http://[fe80::1%25]:81/x", "25"},
        std::pair{"http://[fe80::1%25eth0]:81/a/../x", "eth0"}}) {
    std::string room;
    const auto to = read_url(text, room);
    ASSERT_TRUE(to.has_value()) << text << ": " << to.error();
    EXPECT_EQ(to->zone, zone);
    EXPECT_EQ(to->host, "fe80::1");
    EXPECT_EQ(to->authority, "[fe80::1]:81");
    EXPECT_EQ(to->port, 81);
    EXPECT_EQ(to->target, "/x");
    EXPECT_EQ(origin_text(*to), "http://[fe80::1%25" + std::string{zone} + "]:81");
  }
  for (const std::string_view text :
       {"http://[fe80::1%]/", "http://[fe80::1%25a/b]/", "http://[fe80::1%25a%2Fb]/",
        "http://[fe80::1%25eth0%zz]/", "http://[fe80::1%25a b]/", "http://[%25eth0]/",
        "http://[127.0.0.1%25lo]/", "http://127.0.0.1%25lo/", "http://[fe80::1%25eth0/",
        "http://[fe80::1%25eth0]x/", "http://[fe80::1%25eth0]:0/", "http://ann@[fe80::1%25eth0]/",
        "http://[fe80::1%25eth0]/\n"}) {
    std::string room;
    EXPECT_FALSE(read_url(text, room).has_value()) << text;
  }
}

TEST(url, may_have_a_host_in_other_letters) {
  std::string room;
  const auto to = read_url("https://b\u00fccher.example:8443/\u00fc?\u00fc", room);
  ASSERT_TRUE(to.has_value()) << to.error();
  EXPECT_EQ(to->host, "xn--bcher-kva.example");
  EXPECT_EQ(to->authority, "xn--bcher-kva.example:8443");
  EXPECT_EQ(to->port, 8443);
  EXPECT_EQ(to->target, "/%C3%BC?%C3%BC");
  EXPECT_FALSE(read_url("http://\u00fc:80:80/", room).has_value());
  EXPECT_FALSE(read_url("http://[\u00fc]/", room).has_value());
  EXPECT_FALSE(read_url("http://ann@\u00fc/", room).has_value());
}

TEST(url, is_read_without_a_copy_where_it_can_be_sent) {
  std::string room;
  const std::string_view text = "http://a.test:81/b%20c?d";
  const auto to = read_url(text, room);
  ASSERT_TRUE(to.has_value());
  EXPECT_EQ(to->host.data(), text.data() + 7);
  EXPECT_TRUE(room.empty());
}

TEST(url, that_is_none_is_refused) {
  for (const std::string text : {"",
                                 "/path",
                                 "ftp://a/",
                                 "http:/a",
                                 "http://",
                                 "http:///x",
                                 "http://a:0/",
                                 "http://a:65536/",
                                 "http://a:b/",
                                 "http://user:pass@a/",
                                 "http://a b/",
                                 "http://a/\r\nX: y",
                                 "http://a/\tb",
                                 "http://a/\x7f",
                                 "http://a/%",
                                 "http://a/%zz",
                                 "http://[::1/",
                                 "http://::1/",
                                 R"(http://a\b/)",
                                 R"(http://a\@b/)",
                                 R"(http:\\a/)",
                                 R"(http://a"/)"})
    EXPECT_FALSE(parse_url(text).has_value()) << text;
  EXPECT_FALSE(parse_url("http://" + std::string(256, 'a')).has_value());
  EXPECT_TRUE(parse_url("http://" + std::string(255, 'a')).has_value());
}

TEST(client_options, say_what_is_wrong_with_them) {
  const auto faults_of = [](const client_options& options) {
    std::string told;
    for (const option_fault& each : options.faults())
      told.append(each.option).append(": ").append(each.what).append("\n");
    return told;
  };
  EXPECT_EQ(faults_of({}), "");
  EXPECT_EQ(faults_of({.proxy = "http://proxy.test:3128"}), "");
  EXPECT_EQ(faults_of({.proxy = "http://[::1]/"}), "");
  EXPECT_TRUE(faults_of({.proxy = "nonsense"}).starts_with("proxy: \"nonsense\" is no proxy"));
  EXPECT_TRUE(faults_of({.proxy = "http://a.test/x"}).contains("no path"));
  EXPECT_EQ(faults_of({.proxy = "http://ann:hunter2@proxy.test:3128"}), "");
  EXPECT_TRUE(faults_of({.proxy = "http://***@proxy.test"}).contains("not shown"));
  for (const char* const wrong :
       {"http://ann:hunter2@", "http://ann:hunter2%@a.test", "http://ann:hunter2@a.test/x",
        "http://ann:hunter2/@a.test", "https://ann:hunter2@a.test", "ann:hunter2@a.test"}) {
    const std::string told = faults_of({.proxy = wrong});
    EXPECT_TRUE(told.starts_with("proxy: ")) << wrong;
    EXPECT_FALSE(told.contains("hunter2")) << told;
  }
  EXPECT_EQ(faults_of({.no_proxy = {"*", ".b\u00fccher.example", "::1"}}), "");
  EXPECT_TRUE(faults_of({.no_proxy = {"-\u00fc.example"}}).starts_with("no_proxy: the label"));
  EXPECT_TRUE(faults_of({.user_agent = "a\r\nHost: b"}).starts_with("user_agent: "));
  EXPECT_TRUE(faults_of({.timeout_field = "a b"}).starts_with("timeout_field: "));
  EXPECT_TRUE(faults_of({.tls = {.ca = "/no/ca"}}).starts_with("tls.ca: "));
  EXPECT_TRUE(faults_of({.tls = {.key = "/no/key"}}).starts_with("tls.key: "));
}

}  // namespace
}  // namespace weft::http
