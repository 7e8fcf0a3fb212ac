#include <weft/http/http2/request_text.hpp>

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace weft::http::http2
