#include <weft/http/http2/request_text.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/coro/frame_pool.hpp>

namespace weft::http::http2 {
namespace {

TEST(http2_request_text, is_the_head_that_http_1_would_have) {
  request_text text{1'000};
  text.add(":method", "GET");
  text.add(":path", "/a?b");
  text.add(":scheme", "https");
  text.add(":authority", "one:8080");
  text.add("cookie", "a=1");
  text.add("host", "ONE:8080");
  text.add("x", "");
  text.add("cookie", "b=2");
  EXPECT_FALSE(text.finish().has_value());
  EXPECT_EQ(text.text(), "GET /a?b HTTP/1.1\r\nhost: one:8080\r\nx: \r\ncookie: a=1; b=2\r\n\r\n");
  EXPECT_EQ(text.fields(), 3U);
  text.clear();
  text.add(":method", "CONNECT");
  text.add(":authority", "two:1");
  EXPECT_FALSE(text.finish().has_value());
  EXPECT_EQ(text.text(), "CONNECT two:1 HTTP/1.1\r\nhost: two:1\r\n\r\n");
}

TEST(http2_request_text, holds_no_memory_between_requests) {
  const std::size_t before = frame_pool::live_bytes();
  request_text text{100'000};
  for (int i = 0; i < 2; ++i) {
    text.add(":method", "GET");
    text.add(":path", "/");
    text.add("cookie", std::string(2'000, 'x'));
    std::ignore = text.finish();
    EXPECT_TRUE(text.text().starts_with("GET / HTTP/1.1\r\ncookie: xxx"));
    text.release();
    EXPECT_EQ(frame_pool::live_bytes(), before);
  }
}

TEST(http2_request_text, says_what_is_wrong) {
  request_text text{100};
  text.add(":path", "/");
  text.add(":authority", "one");
  text.add("host", "two");
  ASSERT_TRUE(text.finish().has_value());
  text.clear();
  text.add("x", std::string(67, 'x'));  // 1 and 67 and 32
  EXPECT_FALSE(text.is_too_long());
  text.add("y", "");
  EXPECT_EQ(text.finish()->code, status::request_header_fields_too_large);
  EXPECT_EQ(text.list_bytes(), 133U);
}

using fields = std::vector<std::pair<std::string_view, std::string_view>>;

bool is_malformed(const fields& all) {
  request_text text{10'000};
  for (const auto& [name, value] : all) text.add(name, value);
  std::ignore = text.finish();
  return text.is_malformed();
}

fields get_with(const fields& more) {
  fields all{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "one"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(http2_request_text, knows_what_no_request_may_have) {
  EXPECT_FALSE(is_malformed(get_with({})));
  EXPECT_FALSE(is_malformed(get_with({{"te", "Trailers"}, {"x!", ""}, {"priority", "u=1"}})));
  const fields never{
      {"X", "capital"},
      {"a:b", "colon"},
      {"a b", "space"},
      {"", "nameless"},
      {"x", " before"},
      {"x", "behind\t"},
      {"te", "gzip"},
      {"connection", "close"},
      {"keep-alive", "1"},
      {"upgrade", "h2c"},
      {"proxy-connection", "x"},
      {"transfer-encoding", "chunked"},
      {":path", "/twice"},
      {":status", "200"},
      {":protocol", "websocket"},
      {":", ""},
      {"host", ""},
  };
  for (const auto& each : never)
    EXPECT_TRUE(is_malformed(get_with({each}))) << each.first << ": " << each.second;
  EXPECT_TRUE(is_malformed(get_with({{"host", "one"}, {"host", "one"}})));
}

TEST(http2_request_text, knows_what_each_request_must_have) {
  const fields whole = get_with({});
  for (std::size_t left_out = 0; left_out < whole.size(); ++left_out) {
    fields part = whole;
    part.erase(part.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_TRUE(is_malformed(part)) << whole[left_out].first;
    for (const std::string_view value : {"", "\x01"}) {
      fields other = whole;
      other[left_out].second = value;
      const bool is_for_the_parser = !value.empty() && left_out != 1 && left_out != 2;
      EXPECT_EQ(is_malformed(other), !is_for_the_parser) << whole[left_out].first;
    }
  }
  EXPECT_FALSE(
      is_malformed({{":method", "GET"}, {":scheme", "a+1"}, {":path", "*"}, {"host", "one"}}));
  EXPECT_TRUE(is_malformed(
      {{":method", "GET"}, {":path", "/"}, {"x", "y"}, {":scheme", "http"}, {":authority", "o"}}));
  EXPECT_FALSE(is_malformed({{":method", "CONNECT"}, {":authority", "one:1"}}));
  EXPECT_TRUE(is_malformed({{":method", "CONNECT"}, {":authority", "one:1"}, {":path", "/"}}));
  EXPECT_TRUE(is_malformed({{":method", "CONNECT"}, {"host", "one:1"}}));
}

TEST(http2_request_text, makes_an_extended_connect_a_get_with_upgrade) {
  request_text text{1'000};
  text.add(":method", "CONNECT");
  text.add(":protocol", "websocket");
  text.add(":scheme", "https");
  text.add(":path", "/chat");
  text.add(":authority", "one");
  text.add("origin", "https://one");
  EXPECT_FALSE(text.finish().has_value());
  EXPECT_FALSE(text.is_malformed());
  EXPECT_TRUE(text.asks_for_tunnel());
  EXPECT_EQ(text.asked_protocol(), "websocket");
  EXPECT_EQ(text.text(),
            "GET /chat HTTP/1.1\r\nhost: one\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            "origin: https://one\r\n\r\n");
  EXPECT_EQ(text.fields(), 4U);
  text.clear();
  EXPECT_FALSE(text.asks_for_tunnel());
  EXPECT_TRUE(is_malformed({{":method", "CONNECT"},
                            {":protocol", "websocket"},
                            {":scheme", "https"},
                            {":path", "/"},
                            {"host", "one"}}));
  EXPECT_TRUE(
      is_malformed({{":method", "CONNECT"}, {":protocol", "websocket"}, {":authority", "one"}}));
}

TEST(http2_request_text, says_how_urgent_it_is) {
  request_text text{1'000};
  text.add(":method", "GET");
  text.add("x", "y");
  EXPECT_FALSE(text.priority().has_value());
  text.add("priority", "u=0, i");
  EXPECT_EQ(text.priority(), (stream_priority{.urgency = 0, .is_incremental = true}));
  text.clear();
  EXPECT_FALSE(text.priority().has_value());
  EXPECT_EQ(read_priority(" i;a=1 ,u=7;b"), (stream_priority{7, true}));
  EXPECT_EQ(read_priority("u=2,i=?0,z=\"u=5\""), (stream_priority{2, false}));
  for (const std::string_view wrong : {"", "u=8", "u=-1", "u", "U=1", "u=11", "i=1", ",,;"})
    EXPECT_EQ(read_priority(wrong), stream_priority{}) << wrong;
}

}  // namespace
}  // namespace weft::http::http2
