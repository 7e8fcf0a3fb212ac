#include <weft/http/preconditions.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <weft/http/request_parser.hpp>

namespace weft::http {
namespace {

constexpr std::int64_t modified = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT
constexpr std::int64_t asked_at = 1'800'000'000;
constexpr std::string_view same = "Sun, 06 Nov 1994 08:49:37 GMT";

struct parsed_fields {
  explicit parsed_fields(std::string_view fields)
      : text{"GET / HTTP/1.1\r\nHost: a\r\n" + std::string{fields} + "\r\n"} {
    request_parser parser;
    EXPECT_EQ(parser.parse(text, *head, limits{}), parse_status::complete) << fields;
  }
  std::string text;
  std::unique_ptr<parsed_head> head = std::make_unique<parsed_head>();
};

struct condition_case {
  method asked;
  std::string fields;
  precondition outcome;
};

TEST(preconditions, are_asked_in_the_order_of_rfc_9110) {
  using enum precondition;
  const representation current{.tag = entity_tag{.opaque = "v1"}, .modified = modified};
  const std::string unmodified_since = "If-Unmodified-Since: " + std::string{same} + "\r\n";
  const std::string modified_since = "If-Modified-Since: " + std::string{same} + "\r\n";
  const std::string before = "Sun, 06 Nov 1994 08:49:36 GMT\r\n";
  for (const auto& [asked, fields, outcome] : std::vector<condition_case>{
           {method::get, "", met},
           {method::get, "If-None-Match: \"v1\"\r\n", not_modified},
           {method::head, "If-None-Match: \"v1\"\r\n", not_modified},
           {method::get, "If-None-Match: W/\"v1\"\r\n", not_modified},
           {method::get, "If-None-Match: \"v0\", \"v1\"\r\n", not_modified},
           {method::get, "If-None-Match: \"v0\"\r\nIf-None-Match: \"v1\"\r\n", not_modified},
           {method::get, "If-None-Match: \"a,b\",\"v1\"\r\n", not_modified},
           {method::get, "If-None-Match: *\r\n", not_modified},
           {method::get, "If-None-Match: \"v0\"\r\n", met},
           {method::get, "If-None-Match: v1\r\n", met},
           {method::get, "If-None-Match: \"v1\r\n", met},
           {method::get, "If-None-Match: \"v1\" \"v2\"\r\n", met},
           {method::put, "If-None-Match: \"v1\"\r\n", failed},
           {method::put, "If-None-Match: *\r\n", failed},
           {method::put, "If-None-Match: \"v0\"\r\n", met},
           {method::put, "If-Match: \"v1\"\r\n", met},
           {method::put, "If-Match: \"v0\" , \"v1\"\r\n", met},
           {method::put, "If-Match: *\r\n", met},
           {method::put, "If-Match: W/\"v1\"\r\n", failed},
           {method::put, "If-Match: \"v0\"\r\n", failed},
           {method::put, "If-Match: v1\r\n", failed},
           {method::put, "If-Match:\r\n", failed},
           {method::get, "If-Match: \"v0\"\r\n", failed},
           {method::get, modified_since, not_modified},
           {method::head, modified_since, not_modified},
           {method::get, "If-Modified-Since: " + before, met},
           {method::get, "If-Modified-Since: yesterday\r\n", met},
           {method::get, modified_since + modified_since, met},
           {method::put, modified_since, met},
           {method::put, unmodified_since, met},
           {method::put, "If-Unmodified-Since: " + before, failed},
           {method::put, "If-Unmodified-Since: yesterday\r\n", met},
           {method::put, unmodified_since + unmodified_since, failed},
           // If-Match goes before If-Unmodified-Since, If-None-Match before If-Modified-Since.
           {method::put, "If-Match: \"v1\"\r\nIf-Unmodified-Since: " + before, met},
           {method::get, "If-None-Match: \"v0\"\r\n" + modified_since, met},
           {method::get, "If-None-Match: \"v1\"\r\nIf-Modified-Since: " + before, not_modified},
           {method::get, "If-Match: \"v1\"\r\nIf-None-Match: \"v1\"\r\n", not_modified},
           {method::get, "If-Match: \"v0\"\r\nIf-None-Match: \"v1\"\r\n", failed},
           {method::options, "If-Match: \"v0\"\r\n", met},
       }) {
    const parsed_fields sent{fields};
    EXPECT_EQ(check_preconditions(asked, sent.head->headers(), current, asked_at), outcome)
        << to_string(asked) << "\n"
        << fields;
  }
}

TEST(preconditions, of_what_is_not_there) {
  const representation nothing{.exists = false};
  const parsed_fields none_match{"If-None-Match: *\r\n"};
  EXPECT_EQ(check_preconditions(method::put, none_match.head->headers(), nothing, asked_at),
            precondition::met);
  const parsed_fields any_match{"If-Match: *\r\n"};
  EXPECT_EQ(check_preconditions(method::put, any_match.head->headers(), nothing, asked_at),
            precondition::failed);
  const representation weak{.tag = entity_tag{.opaque = "v1", .weak = true}};
  const parsed_fields strong{"If-Match: \"v1\"\r\nIf-Modified-Since: " + std::string{same} +
                             "\r\n"};
  EXPECT_EQ(check_preconditions(method::put, strong.head->headers(), weak, asked_at),
            precondition::failed);
}

TEST(preconditions, if_range_wants_exactly_what_there_is) {
  const representation current{.tag = entity_tag{.opaque = "v1"}, .modified = modified};
  const auto holds = [&current](std::string_view fields, std::int64_t at) {
    const parsed_fields sent{fields};
    return if_range_holds(sent.head->headers(), current, at);
  };
  EXPECT_TRUE(holds("", asked_at));
  EXPECT_TRUE(holds("If-Range: \"v1\"\r\n", asked_at));
  EXPECT_FALSE(holds("If-Range: W/\"v1\"\r\n", asked_at));
  EXPECT_FALSE(holds("If-Range: \"v0\"\r\n", asked_at));
  EXPECT_FALSE(holds("If-Range: \"v1\"\r\nIf-Range: \"v1\"\r\n", asked_at));
  EXPECT_TRUE(holds("If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n", asked_at));
  EXPECT_FALSE(holds("If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n", modified));
  EXPECT_FALSE(holds("If-Range: Sun, 06 Nov 1994 08:49:38 GMT\r\n", asked_at));
  EXPECT_FALSE(holds("If-Range: v1\r\n", asked_at));
}

TEST(entity_tag, is_quoted) {
  EXPECT_EQ(parse_entity_tag("\"a\"")->opaque, "a");
  EXPECT_FALSE(parse_entity_tag("\"a\"")->weak);
  EXPECT_TRUE(parse_entity_tag("W/\"\"")->weak);
  EXPECT_EQ(parse_entity_tag("\"\xc3\xa4\"")->opaque, "\xc3\xa4");
  for (std::string_view bad :
       {"", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "\"a\"b", "\"a b\"", "\"a\"\"", "W/ \"a\""})
    EXPECT_FALSE(parse_entity_tag(bad)) << bad;
}

}  // namespace
}  // namespace weft::http
