#include <weft/http/framing_fields.hpp>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(framing_fields, content_length) {
  EXPECT_EQ(parse_content_length("0"), 0u);
  EXPECT_EQ(parse_content_length("00000000000000000000000000012"), 12u);
  EXPECT_EQ(parse_content_length("0000000000000000000000000000"), 0u);
  EXPECT_EQ(parse_content_length("1000000000000000000"), std::nullopt);
  EXPECT_EQ(parse_content_length("000000000000000000000000-1"), std::nullopt);
  EXPECT_EQ(parse_content_length(""), std::nullopt);
}

TEST(framing_fields, transfer_encoding) {
  EXPECT_EQ(check_transfer_encoding("Chunked"), fault_kind::none);
  EXPECT_EQ(check_transfer_encoding("gzip, chunked"), fault_kind::unknown_transfer_coding);
  EXPECT_EQ(check_transfer_encoding("chunked, gzip"), fault_kind::bad_transfer_encoding);
  EXPECT_EQ(check_transfer_encoding("gzip"), fault_kind::not_finally_chunked);
  EXPECT_EQ(check_transfer_encoding(""), fault_kind::bad_transfer_encoding);
}

TEST(framing_fields, connection) {
  const auto options = parse_connection(" , close ,x,\tKEEP-alive, upgrade");
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->close);
  EXPECT_TRUE(options->keep_alive);
  EXPECT_TRUE(options->upgrade);
  EXPECT_FALSE(parse_connection("closed, keepalive")->close);
  EXPECT_FALSE(parse_connection("closed, keepalive")->keep_alive);
  EXPECT_FALSE(parse_connection("close upgrade").has_value());
  EXPECT_FALSE(parse_connection("")->close);
}

TEST(framing_fields, expectations) {
  EXPECT_TRUE(expects_only_continue("100-Continue"));
  EXPECT_TRUE(expects_only_continue("100-continue, 100-continue"));
  EXPECT_FALSE(expects_only_continue("100-continue, x"));
  EXPECT_FALSE(expects_only_continue(""));
}

}  // namespace
}  // namespace weft::http
