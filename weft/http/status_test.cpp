#include <weft/http/status.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

TEST(status, named_codes_have_their_phrase) {
  EXPECT_EQ(reason_phrase(status::ok), "OK");
  EXPECT_EQ(reason_phrase(status::not_found), "Not Found");
  EXPECT_EQ(reason_phrase(status::request_header_fields_too_large),
            "Request Header Fields Too Large");
}

TEST(status, unnamed_codes_have_the_phrase_of_their_class) {
  EXPECT_EQ(reason_phrase(static_cast<status>(199)), "Informational");
  EXPECT_EQ(reason_phrase(static_cast<status>(299)), "Success");
  EXPECT_EQ(reason_phrase(static_cast<status>(399)), "Redirection");
  EXPECT_EQ(reason_phrase(static_cast<status>(418)), "Client Error");
  EXPECT_EQ(reason_phrase(static_cast<status>(599)), "Server Error");
}

TEST(status, every_line_is_version_code_phrase_and_line_end) {
  for (unsigned code = 100; code < 600; ++code) {
    const auto which = static_cast<status>(code);
    EXPECT_EQ(status_line(which), "HTTP/1.1 " + std::to_string(code) + " " +
                                      std::string{reason_phrase(which)} + "\r\n");
  }
}

TEST(status, numbers_that_are_none_read_as_500) {
  for (unsigned code : {0u, 99u, 600u, 65535u})
    EXPECT_EQ(status_line(static_cast<status>(code)), "HTTP/1.1 500 Internal Server Error\r\n");
}

TEST(status, bodiless_ones) {
  EXPECT_TRUE(is_bodiless(status::continue_));
  EXPECT_TRUE(is_bodiless(status::no_content));
  EXPECT_TRUE(is_bodiless(status::not_modified));
  EXPECT_FALSE(is_bodiless(status::ok));
  EXPECT_FALSE(is_bodiless(status::reset_content));
}

}  // namespace
}  // namespace weft::http
