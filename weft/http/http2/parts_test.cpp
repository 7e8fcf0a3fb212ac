// The parts of a session that need no connection.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <weft/http/http2/closed_ids.hpp>
#include <weft/http/http2/field_block.hpp>
#include <weft/http/http2/frame_walker.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/http2/rate_bound.hpp>
#include <weft/http/http2/request_text.hpp>

namespace weft::http::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr time_point start{seconds{100}};

TEST(http2_request_text, is_the_head_that_http_1_would_have) {
  request_text text{1'000};
  text.add(":method", "GET");
  text.add(":path", "/a?b");
  text.add(":scheme", "https");
  text.add(":authority", "one:8080");
  text.add("cookie", "a=1");
  text.add("host", "ONE:8080");
  text.add("x", "");
  text.add("cookie", "b=2");
  EXPECT_FALSE(text.finish().has_value());
  EXPECT_EQ(text.text(), "GET /a?b HTTP/1.1\r\nhost: one:8080\r\nx: \r\ncookie: a=1; b=2\r\n\r\n");
  EXPECT_EQ(text.fields(), 3U);
  text.clear();
  text.add(":method", "CONNECT");
  text.add(":authority", "two:1");
  EXPECT_FALSE(text.finish().has_value());
  EXPECT_EQ(text.text(), "CONNECT two:1 HTTP/1.1\r\nhost: two:1\r\n\r\n");
}

TEST(http2_request_text, says_what_is_wrong) {
  request_text text{100};
  text.add(":path", "/");
  text.add(":authority", "one");
  text.add("host", "two");
  ASSERT_TRUE(text.finish().has_value());
  text.clear();
  text.add("x", std::string(67, 'x'));  // 1 and 67 and 32
  EXPECT_FALSE(text.is_too_long());
  text.add("y", "");
  EXPECT_EQ(text.finish()->code, status::request_header_fields_too_large);
  EXPECT_EQ(text.list_bytes(), 133U);
}

TEST(http2_field_block, takes_lines_apart) {
  field_block block;
  const std::string_view lines =
      "X-One: 1\r\nConnection: close\r\nno colon\r\nTWO:2\r\nThree:  3 \r\nKeep-Alive: x";
  block.begin(lines.size());
  block.add(":status", "200");
  block.add_lines(lines);
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const nghttp2_nv& each = block.data()[i];
    seen.push_back(std::string{reinterpret_cast<const char*>(each.name), each.namelen} + "=" +
                   std::string{reinterpret_cast<const char*>(each.value), each.valuelen});
  }
  EXPECT_EQ(seen, (std::vector<std::string>{":status=200", "x-one=1", "two=2", "three=3 "}));
}

TEST(http2_frame_walker, finds_heads_however_the_input_is_cut) {
  const std::string input = std::string{"PRE"} + std::string{"\0\0\2\1\5\x80\0\0\3ab", 11} +
                            std::string{"\0\0\0\4\0\0\0\0\0", 9} +
                            std::string{"\0\1\0\0\1\0\0\1\0", 9};
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    frame_walker walker{3};
    std::vector<frame_head> heads;
    for (std::size_t at = 0; at < input.size(); at += piece)
      for (std::string_view rest = std::string_view{input}.substr(at, piece);
           const auto head = walker.next(rest);)
        heads.push_back(*head);
    ASSERT_EQ(heads.size(), 3U) << piece;
    EXPECT_EQ(heads[0].length, 2U);
    EXPECT_EQ(heads[0].type, 1);
    EXPECT_EQ(heads[0].flags, 5);
    EXPECT_EQ(heads[0].stream, 3);
    EXPECT_EQ(heads[1].type, 4);
    EXPECT_EQ(heads[2].length, 256U);
    EXPECT_EQ(heads[2].stream, 256);
  }
}

TEST(http2_closed_ids, tells_late_frames_from_wrong_ones) {
  closed_ids ids;
  EXPECT_TRUE(ids.is_new(1, true));
  EXPECT_TRUE(ids.is_new(7, true));
  EXPECT_TRUE(ids.is_new(9, false));
  EXPECT_FALSE(ids.is_new(7, true));
  EXPECT_EQ(ids.judge(1, start), NGHTTP2_STREAM_CLOSED);
  EXPECT_EQ(ids.judge(3, start), NGHTTP2_PROTOCOL_ERROR);
  EXPECT_EQ(ids.judge(5, start), NGHTTP2_PROTOCOL_ERROR);
  EXPECT_EQ(ids.judge(7, start), NGHTTP2_STREAM_CLOSED);
  ids.note_reset(start);
  EXPECT_EQ(ids.judge(7, start + seconds{59}), NGHTTP2_NO_ERROR);
  EXPECT_EQ(ids.judge(7, start + seconds{60}), NGHTTP2_STREAM_CLOSED);
  EXPECT_EQ(ids.judge(0, start), NGHTTP2_NO_ERROR);
}

TEST(http2_rate_bound, allows_so_many_a_second_and_ten_seconds_worth_at_once) {
  rate_bound bound{2};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(bound.take(start));
  EXPECT_FALSE(bound.take(start));
  EXPECT_FALSE(bound.take(start + milliseconds{300}));
  EXPECT_TRUE(bound.take(start + milliseconds{600}));
  EXPECT_FALSE(bound.take(start + milliseconds{600}));
  bound.give(1);
  EXPECT_TRUE(bound.take(start + milliseconds{600}));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(bound.take(start + seconds{60}));
  EXPECT_FALSE(bound.take(start + seconds{60}));
}

TEST(http2_memory, is_moved_with_what_it_holds) {
  nghttp2_mem& memory = *pooled_memory();
  char* text = static_cast<char*>(memory.malloc(3, nullptr));
  text[0] = 'a';
  text = static_cast<char*>(memory.realloc(text, 10'000, nullptr));
  EXPECT_EQ(text[0], 'a');
  text = static_cast<char*>(memory.realloc(text, 1, nullptr));
  EXPECT_EQ(text[0], 'a');
  memory.free(text, nullptr);
  memory.free(nullptr, nullptr);
  const auto* const zeroed = static_cast<const char*>(memory.calloc(10, 10, nullptr));
  EXPECT_EQ(std::string_view(zeroed, 100), std::string_view(std::string(100, '\0')));
  memory.free(const_cast<char*>(zeroed), nullptr);  // NOLINT
  EXPECT_EQ(memory.calloc(SIZE_MAX, 2, nullptr), nullptr);
}

}  // namespace
}  // namespace weft::http::http2
