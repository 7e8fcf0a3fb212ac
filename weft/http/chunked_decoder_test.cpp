// What the conformance cases cannot say: the object's own contract.
#include <weft/http/chunked_decoder.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

TEST(chunked_decoder, appends_and_stops_at_the_end) {
  chunked_decoder decoder;
  std::string content = "before ";
  const chunked_progress end = decoder.decode("3\r\nabc\r\n0\r\n\r\nGET", content, limits{});
  EXPECT_EQ(end.status, chunked_status::complete);
  EXPECT_EQ(end.consumed_bytes, 13u);
  EXPECT_EQ(content, "before abc");
}

TEST(chunked_decoder, takes_all_of_what_is_not_the_end) {
  chunked_decoder decoder;
  std::string content;
  const chunked_progress first = decoder.decode("4\r\nab", content, limits{});
  EXPECT_EQ(first.status, chunked_status::incomplete);
  EXPECT_EQ(first.consumed_bytes, 5u);
  EXPECT_EQ(content, "ab");
  EXPECT_EQ(decoder.decode("cd\r\n0\r\n\r", content, limits{}).status, chunked_status::incomplete);
  EXPECT_EQ(decoder.decode("\n", content, limits{}).status, chunked_status::complete);
  EXPECT_EQ(content, "abcd");
}

TEST(chunked_decoder, a_fault_names_status_reason_and_place_on_the_wire) {
  chunked_decoder decoder;
  std::string content;
  ASSERT_EQ(decoder.decode("3\r\nab", content, limits{}).status, chunked_status::incomplete);
  const chunked_progress end = decoder.decode("cX\r\n", content, limits{});
  EXPECT_EQ(end.status, chunked_status::failed);
  EXPECT_EQ(end.consumed_bytes, 1u);
  EXPECT_EQ(decoder.fault().code, status::bad_request);
  EXPECT_EQ(decoder.fault().reason, "no CR LF after a chunk's data");
  EXPECT_EQ(decoder.fault().offset_bytes, 6u);
}

TEST(chunked_decoder, refuses_a_size_before_its_data_comes) {
  chunked_decoder decoder;
  std::string content;
  EXPECT_EQ(decoder.decode("a\r", content, limits{.body_bytes = 9}).status, chunked_status::failed);
  EXPECT_EQ(decoder.fault().code, status::content_too_large);
}

TEST(chunked_decoder, serves_the_next_body_after_reset) {
  chunked_decoder decoder;
  std::string content;
  ASSERT_EQ(decoder.decode("zz", content, limits{}).status, chunked_status::failed);
  decoder.reset();
  EXPECT_EQ(decoder.decode("1\r\na\r\n0\r\n\r\n", content, limits{}).status,
            chunked_status::complete);
  EXPECT_EQ(content, "a");
}

}  // namespace
}  // namespace weft::http
