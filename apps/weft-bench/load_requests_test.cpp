#include "load_requests.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using weft::bench::load_options;
using weft::bench::make_requests;

load_options options_to(const char* url) {
  load_options options;
  options.to = *weft::bench::parse_target(url);
  return options;
}

TEST(load_requests, get_the_target_by_default) {
  const auto requests = make_requests(options_to("http://127.0.0.1:8080/"));
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].bytes, "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
  EXPECT_FALSE(requests[0].is_head);
}

TEST(load_requests, post_a_body) {
  load_options options = options_to("http://a:1/ping");
  options.body = "{\"sequence\": 2}";
  EXPECT_EQ(make_requests(options)[0].bytes,
            "POST /ping HTTP/1.1\r\nHost: a:1\r\nContent-Type: application/json\r\n"
            "Content-Length: 15\r\n\r\n{\"sequence\": 2}");
}

TEST(load_requests, are_sent_in_turn) {
  load_options options = options_to("http://a:1/");
  options.headers = {"X: y"};
  options.requests = {{"HEAD", "/b", ""}, {"PUT", "/c", "d"}};
  const auto requests = make_requests(options);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].bytes, "HEAD /b HTTP/1.1\r\nHost: a:1\r\nX: y\r\n\r\n");
  EXPECT_TRUE(requests[0].is_head);
  EXPECT_EQ(requests[1].bytes,
            "PUT /c HTTP/1.1\r\nHost: a:1\r\nContent-Type: application/json\r\nX: y\r\n"
            "Content-Length: 1\r\n\r\nd");
}

TEST(load_requests, of_http2_are_fields_and_a_body) {
  load_options options = options_to("https://a/b");
  options.http2 = true;
  options.body = "{}";
  options.headers = {"HOST: c", "X-Y:\tz"};
  const auto requests = make_requests(options);
  std::string told;
  for (const auto& field : requests[0].fields) told += field.name + '=' + field.value + ' ';
  EXPECT_EQ(told,
            ":method=POST :scheme=https :authority=c :path=/b "
            "content-type=application/json x-y=z content-length=2 ");
  EXPECT_EQ(requests[0].bytes, "{}");
}

TEST(load_requests, to_an_echo_are_the_message_itself) {
  load_options options = options_to("tcp://a:1");
  options.body = "hello";
  const auto requests = make_requests(options);
  EXPECT_EQ(requests[0].bytes, "hello");
}

}  // namespace
