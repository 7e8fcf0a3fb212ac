#include "request_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using weft::bench::parse_requests;
using weft::bench::request_line;

TEST(request_file, has_a_request_a_line) {
  const auto got = parse_requests(
      "# a comment\n"
      "GET /a?b=c\r\n"
      "\n"
      "POST  /ping \t{\"sequence\": 2}  \n"
      "HEAD /last");
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(*got, (std::vector<request_line>{{"GET", "/a?b=c", ""},
                                             {"POST", "/ping", "{\"sequence\": 2}  "},
                                             {"HEAD", "/last", ""}}));
}

TEST(request_file, says_which_line_is_wrong) {
  for (const char* wrong : {"get /a", "GET", "GET a", "/a", "GET /\x01"}) {
    const auto got = parse_requests(std::string{"GET /\n"} + wrong);
    ASSERT_FALSE(got) << wrong;
    EXPECT_TRUE(got.error().starts_with("line 2: '")) << got.error();
  }
}

TEST(request_file, has_at_least_one) {
  EXPECT_FALSE(parse_requests(""));
  EXPECT_FALSE(parse_requests("\n# nothing\n"));
}

}  // namespace
