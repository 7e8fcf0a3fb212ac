// What the conformance cases cannot say: the object's own contract.
#include <weft/http/request_parser.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace weft::http {
namespace {

constexpr std::string_view ping =
    "POST /ping?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\n"
    "Content-Length: 15\r\nX-Tag: a\r\nX-Tag: b\r\n\r\n";

class request_parser_contract : public ::testing::Test {
 protected:
  request_parser parser;
  std::unique_ptr<parsed_head> head = std::make_unique<parsed_head>();
  limits bounds;
};

TEST_F(request_parser_contract, gives_views_into_the_input) {
  const std::string input{ping};
  ASSERT_EQ(parser.parse(input, *head, bounds), parse_status::complete);
  EXPECT_EQ(head->path().data(), input.data() + 5);
  EXPECT_EQ(head->path(), "/ping");
  EXPECT_EQ(head->query(), "x=1");
  EXPECT_EQ(head->headers().size(), 5u);
  EXPECT_EQ(head->headers()[1].name, "Content-Type");
  EXPECT_EQ(head->headers()[1].value, "application/json");
}

TEST_F(request_parser_contract, finds_headers_in_any_case_and_repeated_ones) {
  ASSERT_EQ(parser.parse(ping, *head, bounds), parse_status::complete);
  const header_list& headers = head->headers();
  EXPECT_EQ(headers.find("CONTENT-type"), "application/json");
  EXPECT_EQ(headers.find("content-typ"), std::nullopt);
  const std::size_t first = headers.index_of("x-tag");
  const std::size_t second = headers.index_of("x-tag", first + 1);
  EXPECT_EQ(headers[first].value, "a");
  EXPECT_EQ(headers[second].value, "b");
  EXPECT_EQ(headers.index_of("x-tag", second + 1), headers.size());
  std::size_t count = 0;
  for (const auto [name, value] : headers) count += name.size() + value.size() != 0 ? 1 : 0;
  EXPECT_EQ(count, headers.size());
}

TEST_F(request_parser_contract, serves_the_next_request_after_reset) {
  const std::string input = std::string{ping} + "GET / HTTP/1.0\r\n\r\n";
  ASSERT_EQ(parser.parse(input, *head, bounds), parse_status::complete);
  EXPECT_TRUE(head->keep_alive());
  const std::string_view rest = std::string_view{input}.substr(head->size_bytes());
  parser.reset();
  EXPECT_FALSE(parser.started());
  ASSERT_EQ(parser.parse(rest, *head, bounds), parse_status::complete);
  EXPECT_EQ(head->method(), method::get);
  EXPECT_TRUE(head->headers().empty());
  EXPECT_EQ(head->content_length(), std::nullopt);
  EXPECT_FALSE(head->keep_alive());
}

TEST_F(request_parser_contract, knows_all_it_must_know_itself_between_calls) {
  // The head that it gets meanwhile is somebody else's, and so are the bytes' old places.
  const auto strangers = std::make_unique<parsed_head>();
  request_parser other;
  ASSERT_EQ(other.parse("GET /other HTTP/1.1\r\nHost: b\r\nA: b\r\n\r\n", *strangers, bounds),
            parse_status::complete);
  for (std::size_t size = 0; size < ping.size(); ++size) {
    const std::string elsewhere{ping.substr(0, size)};
    ASSERT_EQ(parser.parse(elsewhere, *strangers, bounds), parse_status::incomplete);
  }
  ASSERT_EQ(parser.parse(ping, *head, bounds), parse_status::complete);
  EXPECT_EQ(head->headers().size(), 5u);
  EXPECT_EQ(head->headers().find("host"), "127.0.0.1:8080");
  EXPECT_EQ(head->content_length(), 15u);
  EXPECT_EQ(head->size_bytes(), ping.size());
}

TEST_F(request_parser_contract, an_incomplete_request_has_started) {
  EXPECT_EQ(parser.parse("", *head, bounds), parse_status::incomplete);
  EXPECT_FALSE(parser.started());
  EXPECT_EQ(parser.parse("G", *head, bounds), parse_status::incomplete);
  EXPECT_TRUE(parser.started());
}

TEST_F(request_parser_contract, a_fault_names_status_reason_and_place) {
  ASSERT_EQ(parser.parse("GET / HTTP/1.1\r\nHost: a\r\nBad : x\r\n\r\n", *head, bounds),
            parse_status::failed);
  EXPECT_EQ(parser.fault().code, status::bad_request);
  EXPECT_EQ(parser.fault().reason, "white space between a header's name and its colon");
  EXPECT_EQ(parser.fault().offset_bytes, 28u);
}

TEST_F(request_parser_contract, views_follow_the_bytes_when_told) {
  auto input = std::make_unique<std::string>(ping);
  ASSERT_EQ(parser.parse(*input, *head, bounds), parse_status::complete);
  const std::string moved = *input;
  head->rebase(moved.data());
  input.reset();
  EXPECT_EQ(head->target(), "/ping?x=1");
  EXPECT_EQ(head->headers().find("x-tag"), "a");
}

}  // namespace
}  // namespace weft::http
