#include <weft/http/access_line.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace weft::http {
namespace {

using namespace std::chrono_literals;

const access_record usual = {.client = "10.0.0.1",
                             .method = "GET",
                             .target = "/a?b=c",
                             .code = status::not_found,
                             .body_bytes = 17,
                             .length = 120'999ns,
                             .unix_seconds = 784111777,
                             .referer = "http://a/",
                             .user_agent = "curl/8"};

TEST(access_line, combined) {
  std::string line = "before\n";
  append_access_line(line, usual, access_format::combined);
  EXPECT_EQ(line,
            "before\n10.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 404 17 "
            "\"http://a/\" \"curl/8\" 120\n");
  line.clear();
  append_access_line(line, {.client = "::1", .method = "GET", .target = "/", .minor_version = 0},
                     access_format::combined);
  EXPECT_EQ(line, "::1 - - [01/Jan/1970:00:00:00 +0000] \"GET / HTTP/1.0\" 200 0 \"-\" \"-\" 0\n");
}

TEST(access_line, json) {
  std::string line;
  append_access_line(line, usual, access_format::json);
  EXPECT_EQ(line, R"({"time":784111777,"client":"10.0.0.1","method":"GET","target":"/a?b=c",)"
                  R"("version":"1.1","status":404,"body_bytes":17,"duration_us":120,)"
                  R"("referer":"http://a/","user_agent":"curl/8"})"
                  "\n");
}

TEST(access_line, a_client_cannot_end_a_quote_or_a_line) {
  access_record evil = usual;
  evil.user_agent = "a\" 200 0 \"-\" \"b\\\n10.0.0.2 - - \x1b[2J\xff";
  evil.target = "/\"\\";
  std::string line;
  append_access_line(line, evil, access_format::combined);
  EXPECT_EQ(line,
            "10.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /\\\"\\\\ HTTP/1.1\" 404 17 "
            "\"http://a/\" \"a\\\" 200 0 \\\"-\\\" \\\"b\\\\\\n10.0.0.2 - - \\x1b[2J\\xff\" 120\n");
  line.clear();
  append_access_line(line, evil, access_format::json);
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_TRUE(line.contains(R"(a\" 200 0 \"-\" \"b\\\n10.0.0.2)"));
}

}  // namespace
}  // namespace weft::http
