#include <weft/http/response.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

TEST(response, makers_set_code_type_and_body) {
  const response text = response::text("hello\n");
  EXPECT_EQ(text.code(), status::ok);
  EXPECT_EQ(text.content_type(), "text/plain; charset=utf-8");
  EXPECT_EQ(text.body(), "hello\n");
  EXPECT_EQ(text.fields(), "");
  const response json = response::json_text("{}", status::created);
  EXPECT_EQ(json.code(), status::created);
  EXPECT_EQ(json.content_type(), "application/json");
  const response nothing = response::empty(status::no_content);
  EXPECT_EQ(nothing.content_type(), "");
  EXPECT_EQ(nothing.body(), "");
}

TEST(response, problem_is_a_document_of_rfc_9457) {
  const response made = response::problem(status::not_found, "no \"order\" 17");
  EXPECT_EQ(made.code(), status::not_found);
  EXPECT_EQ(made.content_type(), "application/problem+json");
  EXPECT_EQ(made.body(), R"({"title":"Not Found","status":404,"detail":"no \"order\" 17"})");
  EXPECT_EQ(response::problem(status::gone).body(), R"({"title":"Gone","status":410})");
}

TEST(response, fields_are_kept_as_lines) {
  response made = response::empty(status::see_other);
  EXPECT_TRUE(made.add_field("Location", "/a?b=c").has_value());
  EXPECT_TRUE(made.add_field("X-Empty", "").has_value());
  EXPECT_TRUE(made.add_field("X-Text", "a \xc3\xa4\tb").has_value());
  EXPECT_EQ(made.fields(), "Location: /a?b=c\r\nX-Empty: \r\nX-Text: a \xc3\xa4\tb\r\n");
}

TEST(response, what_would_split_it_is_refused) {
  response made;
  using namespace std::string_literals;
  for (const std::string& value :
       {"a\r\nSet-Cookie: b"s, "a\n"s, "a\r"s, "a\0b"s, "\x01"s, "\x7f"s, " a"s, "a\t"s})
    EXPECT_EQ(made.add_field("Location", value).error(), errc::invalid_argument)
        << ::testing::PrintToString(value);
  for (const std::string& name : {""s, "a b"s, "a:"s, "a\r\nb"s, "\xc3\xa4"s, "a\0"s})
    EXPECT_EQ(made.add_field(name, "x").error(), errc::invalid_argument)
        << ::testing::PrintToString(name);
  EXPECT_EQ(made.set_content_type("text/html\r\nA: b").error(), errc::invalid_argument);
  EXPECT_EQ(made.set_content_type("").error(), errc::invalid_argument);
  EXPECT_EQ(made.fields(), "");
}

TEST(response, what_frames_the_message_is_the_servers) {
  response made;
  for (std::string_view name : {"Content-Length", "content-length", "Transfer-Encoding",
                                "CONNECTION", "Date", "Content-Type"})
    EXPECT_EQ(made.add_field(name, "x").error(), errc::invalid_argument) << name;
  EXPECT_EQ(made.fields(), "");
}

TEST(response, the_content_type_is_one_of_them) {
  response made = response::text("a");
  ASSERT_TRUE(made.add_field("A", "b").has_value());
  ASSERT_TRUE(made.set_content_type("text/csv").has_value());
  EXPECT_EQ(made.content_type(), "");
  EXPECT_EQ(made.fields(), "Content-Type: text/csv\r\nA: b\r\n");
  ASSERT_TRUE(made.set_content_type("text/x").has_value());
  EXPECT_EQ(made.fields(), "Content-Type: text/x\r\nA: b\r\n");
  EXPECT_FALSE(made.set_content_type("\n").has_value());
  EXPECT_EQ(made.fields(), "Content-Type: text/x\r\nA: b\r\n");
}

}  // namespace
}  // namespace weft::http
