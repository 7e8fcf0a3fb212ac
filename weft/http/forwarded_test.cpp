#include <weft/http/forwarded.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <weft/http/request_parser.hpp>

namespace weft::http {
namespace {

struct client_case {
  std::string_view peer;
  std::string fields;
  std::string client;
};

class find_client_test : public ::testing::Test {
 protected:
  std::string described(const client_case& one, forwarding field) {
    const std::string input = "GET / HTTP/1.1\r\nHost: a\r\n" + one.fields + "\r\n";
    const auto head = std::make_unique<parsed_head>();
    request_parser parser;
    EXPECT_EQ(parser.parse(input, *head, limits{}), parse_status::complete) << one.fields;
    const auto found = find_client(peer_of(one.peer), head->headers(), field, trusted_);
    if (!found) return to_string(found.error().code());
    std::string text = found->address ? found->address->to_string() : "hidden";
    if (!found->proto.empty()) text.append(" ").append(found->proto);
    if (!found->host.empty()) text.append(" ").append(found->host);
    return text;
  }

  static connection_peer peer_of(std::string_view text) {
    if (text == "unix:") return {.is_unix_socket = true};
    if (text == "unknown") return {};
    const bool is_hiding = text.starts_with("hiding ");
    return {.address = *net::ip_address::parse(text.substr(is_hiding ? 7 : 0)),
            .hides_its_client = is_hiding};
  }

  const trusted_proxies trusted_ =
      trusted_proxies::parse(std::vector<std::string>{"10.0.0.0/8", "fd00::/8", "unix:"}).value();
};

TEST_F(find_client_test, forwarded_is_read_from_the_right) {
  for (const client_case& one : std::vector<client_case>{
           {"10.0.0.1", "", "10.0.0.1"},
           {"1.2.3.4", "Forwarded: for=9.9.9.9\r\n", "1.2.3.4"},
           {"10.0.0.1", "Forwarded: for=1.2.3.4\r\n", "1.2.3.4"},
           {"::ffff:10.0.0.1", "Forwarded: for=1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "Forwarded: for=9.9.9.9, for=1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "Forwarded: for=9.9.9.9\r\nForwarded: for=1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "Forwarded: for=1.2.3.4, for=10.0.0.2\r\n", "1.2.3.4"},
           {"10.0.0.1", "Forwarded: for=10.0.0.3, for=10.0.0.2\r\n", "10.0.0.3"},
           {"fd00::1", "Forwarded: For=\"[2001:db8::1]:4711\"\r\n", "2001:db8::1"},
           {"10.0.0.1", "Forwarded: for=\"1.2.3.4:80\";proto=https;host=\"a.b:443\";by=_x\r\n",
            "1.2.3.4 https a.b:443"},
           {"10.0.0.1", "Forwarded: for=10.0.0.2;proto=http, for=10.0.0.3;proto=https\r\n",
            "10.0.0.2 http"},
           {"unix:", "Forwarded: for=9.9.9.9, for=1.2.3.4\r\n", "1.2.3.4"},
           {"unix:", "", "hidden"},
           {"10.0.0.1", "Forwarded: for=unknown\r\n", "hidden"},
           {"10.0.0.1", "Forwarded: for=_gazonk\r\n", "hidden"},
           {"10.0.0.1", "Forwarded: \r\n", "hidden"},
           {"10.0.0.1", "Forwarded: for=1.2.3.4, for=_gazonk\r\n", "hidden"},
           // What the client wrote is not looked at.
           {"10.0.0.1", "Forwarded: nonsense, for=1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "Forwarded: for=\"[::1\r\nForwarded: for=1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-For: 9.9.9.9\r\n", "10.0.0.1"},
           // What a trusted proxy vouches for must be right; so must what a quote swallows.
           {"10.0.0.1", "Forwarded: for=\", for=1.2.3.4\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: nonsense\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: proto=https\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=1.2.3.4;for=5.6.7.8\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=1.2.3.4;proto=a;proto=b\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=1.2.3\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=\"::1\"\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=\"[1.2.3.4]\"\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=\"1.2.3.4:99999\"\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=\"1.2.3.\\4\"\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=\"\"\r\n", "protocol_error"},
       })
    EXPECT_EQ(described(one, forwarding::forwarded), one.client) << one.peer << " " << one.fields;
}

TEST_F(find_client_test, x_forwarded_for_is_read_from_the_right) {
  for (const client_case& one : std::vector<client_case>{
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-For: 9.9.9.9, 1.2.3.4 ,10.0.0.2\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-For: 1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-For: 2001:db8::1\r\n", "2001:db8::1"},
           {"10.0.0.1", "X-Forwarded-For: [2001:db8::1]:80\r\n", "2001:db8::1"},
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4:80\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-For: unknown\r\n", "hidden"},
           {"10.0.0.1", "X-Forwarded-For: \r\n", "hidden"},
           {"10.0.0.1", "X-Forwarded-For: evil, 1.2.3.4\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4, evil\r\n", "protocol_error"},
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4;\r\n", "protocol_error"},
           {"10.0.0.1", "Forwarded: for=9.9.9.9\r\n", "10.0.0.1"},
           {"1.2.3.4", "X-Forwarded-For: 9.9.9.9\r\n", "1.2.3.4"},
           {"unix:", "X-Forwarded-For: 1.2.3.4\r\n", "1.2.3.4"},
           {"unix:", "X-Forwarded-For: unknown\r\n", "hidden"},
           // Who had gone, or is passed on by a balancer that does not say whom, is no proxy.
           {"unknown", "X-Forwarded-For: 1.2.3.4\r\n", "hidden"},
           {"hiding 10.0.0.1", "X-Forwarded-For: 1.2.3.4\r\n", "10.0.0.1"},
       })
    EXPECT_EQ(described(one, forwarding::x_forwarded_for), one.client)
        << one.peer << " " << one.fields;
}

TEST_F(find_client_test, the_scheme_is_the_one_that_the_outermost_trusted_proxy_saw) {
  for (const client_case& one : std::vector<client_case>{
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n",
            "1.2.3.4 https"},
           // One value, of a proxy that replaces; the hops between say nothing.
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4, 10.0.0.2\r\nX-Forwarded-Proto: https\r\n",
            "1.2.3.4 https"},
           {"10.0.0.1", "X-Forwarded-For: 1.2.3.4, 10.0.0.2\r\nX-Forwarded-Proto: https, http\r\n",
            "1.2.3.4 https"},
           // What the client has put before is not looked at.
           {"10.0.0.1", "X-Forwarded-For: 9.9.9.9, 1.2.3.4\r\nX-Forwarded-Proto: https, http\r\n",
            "1.2.3.4 http"},
           {"1.2.3.4", "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\n", "1.2.3.4"},
           {"10.0.0.1", "X-Forwarded-Proto: https\r\n", "10.0.0.1"},
       })
    EXPECT_EQ(described(one, forwarding::x_forwarded_for), one.client) << one.fields;
}

TEST_F(find_client_test, neither_where_none_is_believed) {
  EXPECT_EQ(described({"10.0.0.1", "Forwarded: for=9.9.9.9\r\nX-Forwarded-For: 8.8.8.8\r\n", ""},
                      forwarding::none),
            "10.0.0.1");
}

TEST_F(find_client_test, at_most_32_hops_are_gone_through) {
  std::string list = "X-Forwarded-For: 9.9.9.9";
  for (int i = 0; i < 31; ++i) list += ", 10.0.0.7";
  EXPECT_EQ(described({"10.0.0.1", list + "\r\n", ""}, forwarding::x_forwarded_for), "9.9.9.9");
  EXPECT_EQ(described({"10.0.0.1", list + ", 10.0.0.8\r\n", ""}, forwarding::x_forwarded_for),
            "10.0.0.7");
}

}  // namespace
}  // namespace weft::http
