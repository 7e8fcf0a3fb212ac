// What the conformance cases cannot say: the objects' own contracts.
#include <weft/http/client/response_parser.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <weft/http/client/response_body.hpp>

namespace weft::http {
namespace {

constexpr std::string_view pong =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\nX-Tag: a\r\n"
    "X-Tag: b\r\n\r\n";

class response_parser_contract : public ::testing::Test {
 protected:
  response_parser parser;
  std::unique_ptr<response_head> head = std::make_unique<response_head>();
  limits bounds;
};

TEST_F(response_parser_contract, gives_views_into_the_input) {
  const std::string input{pong};
  ASSERT_EQ(parser.parse(input, *head, bounds), parse_status::complete);
  EXPECT_EQ(head->status(), status::ok);
  EXPECT_EQ(head->reason(), "OK");
  EXPECT_EQ(head->headers().find("content-type")->data(), input.data() + 31);
  EXPECT_EQ(head->headers().size(), 4U);
  const std::string moved = input;
  head->rebase(moved.data());
  EXPECT_EQ(head->headers().find("x-tag")->data(), moved.data() + 76);
}

TEST_F(response_parser_contract, knows_all_it_must_know_itself_between_calls) {
  // The head that it gets meanwhile is somebody else's, and so are the bytes' old places.
  const auto strangers = std::make_unique<response_head>();
  response_parser other;
  ASSERT_EQ(other.parse("HTTP/1.0 404 No\r\nA: b\r\n\r\n", *strangers, bounds),
            parse_status::complete);
  for (std::size_t size = 0; size < pong.size(); ++size) {
    const std::string elsewhere{pong.substr(0, size)};
    ASSERT_EQ(parser.parse(elsewhere, *strangers, bounds), parse_status::incomplete);
  }
  ASSERT_EQ(parser.parse(pong, *head, bounds), parse_status::complete);
  EXPECT_EQ(head->headers().size(), 4U);
  EXPECT_EQ(head->content_length(), 14U);
  EXPECT_EQ(head->reason(), "OK");
  EXPECT_EQ(head->size_bytes(), pong.size());
}

TEST_F(response_parser_contract, reads_the_next_response_after_reset) {
  const std::string input = std::string{pong} + "HTTP/1.0 404 Not Found\r\n\r\n";
  ASSERT_EQ(parser.parse(input, *head, bounds), parse_status::complete);
  const std::string_view rest = std::string_view{input}.substr(head->size_bytes());
  parser.reset();
  ASSERT_EQ(parser.parse(rest, *head, bounds), parse_status::complete);
  EXPECT_EQ(head->status(), status::not_found);
  EXPECT_TRUE(head->headers().empty());
  EXPECT_EQ(head->content_length(), std::nullopt);
}

TEST_F(response_parser_contract, a_fault_is_a_bad_gateway_with_reason_and_place) {
  ASSERT_EQ(parser.parse("HTTP/1.1 200 OK\r\nBad : x\r\n\r\n", *head, bounds),
            parse_status::failed);
  EXPECT_EQ(parser.fault().code, status::bad_gateway);
  EXPECT_EQ(parser.fault().reason, "white space between a header's name and its colon");
  EXPECT_EQ(parser.fault().offset_bytes, 20U);
}

/// A recipient ignores empty elements of a list (RFC 9110 section 5.6.1.2).
TEST_F(response_parser_contract, takes_chunked_in_a_list_with_empty_elements) {
  const auto read = [&](std::string_view coding) {
    parser.reset();
    return parser.parse(
        std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: "}.append(coding).append("\r\n\r\n"),
        *head, bounds);
  };
  for (const std::string_view one :
       {"chunked", "chunked,", ",chunked", ", Chunked ,,", "chunked ,"})
    EXPECT_EQ(read(one), parse_status::complete) << one;
  for (const std::string_view other :
       {",", "", ",,", "gzip, chunked,", "chunked, chunked", "chunked;", "chunked, gzip"})
    EXPECT_EQ(read(other), parse_status::failed) << other;
}

TEST(response_body, shows_content_where_it_lies) {
  constexpr std::string_view received = "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nHTTP/1.1";
  response_body body;
  body.begin(response_framing::chunked, 0);
  std::size_t used = 0;
  std::string content;
  while (!body.is_complete()) {
    const body_piece piece = body.next(received.substr(used), {});
    ASSERT_NE(piece.status, body_status::failed);
    if (content.empty()) {
      EXPECT_EQ(piece.content.data(), received.data() + 3);
    }
    content += piece.content;
    used += piece.consumed_bytes;
  }
  EXPECT_EQ(content, "abcde");
  EXPECT_EQ(received.substr(used), "HTTP/1.1");
}

TEST(response_body, the_connections_end_completes_only_what_nothing_else_ends) {
  response_body body;
  body.begin(response_framing::length, 5);
  EXPECT_EQ(body.next("abc", {}).content, "abc");
  EXPECT_FALSE(body.ended());
  body.begin(response_framing::chunked, 0);
  EXPECT_FALSE(body.ended());
  body.begin(response_framing::until_close, 0);
  EXPECT_EQ(body.next("abc", {}).content, "abc");
  EXPECT_FALSE(body.is_complete());
  EXPECT_TRUE(body.ended());
  body.begin(response_framing::length, 0);
  EXPECT_TRUE(body.is_complete());
}

}  // namespace
}  // namespace weft::http
