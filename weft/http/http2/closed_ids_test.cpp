#include <weft/http/http2/closed_ids.hpp>

#include <gtest/gtest.h>

#include <chrono>

#include <weft/http/http2/library.hpp>

namespace weft::http::http2 {
namespace {

TEST(http2_closed_ids, tells_late_frames_from_wrong_ones) {
  using std::chrono::seconds;
  constexpr time_point start{seconds{100}};
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

}  // namespace
}  // namespace weft::http::http2
