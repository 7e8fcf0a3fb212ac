#include <weft/http/http2/peer_settings.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/http/http2/http2_peer_test.hpp>

namespace weft::http::http2 {
namespace {

using testing::big_endian;

std::string setting(std::uint32_t id, std::uint32_t value) {
  return big_endian(id, 2) + big_endian(value);
}

TEST(http2_peer_settings, keeps_what_means_something) {
  peer_settings settings;
  EXPECT_EQ(settings.window_bytes(), 65'535);
  EXPECT_EQ(settings.table_bytes(), 4'096U);
  EXPECT_EQ(settings.take(setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10) +
                          setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 8'192) +
                          setting(0x4242, 0xffffffff) +
                          setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0)),
            NGHTTP2_NO_ERROR);
  EXPECT_EQ(settings.window_bytes(), 10);
  EXPECT_EQ(settings.table_bytes(), 4'096U);
  EXPECT_EQ(settings.take(setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 0) +
                          setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4'096)),
            NGHTTP2_NO_ERROR);
  EXPECT_EQ(settings.table_bytes(), 0U);
}

TEST(http2_peer_settings, says_which_values_may_not_be) {
  const std::pair<std::string, std::uint32_t> all[] = {
      {setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0), NGHTTP2_NO_ERROR},
      {setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 1), NGHTTP2_NO_ERROR},
      {setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 2), NGHTTP2_PROTOCOL_ERROR},
      {setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x7fffffff), NGHTTP2_NO_ERROR},
      {setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x80000000), NGHTTP2_FLOW_CONTROL_ERROR},
      {setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16'383), NGHTTP2_PROTOCOL_ERROR},
      {setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16'384), NGHTTP2_NO_ERROR},
      {setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 0xffffff), NGHTTP2_NO_ERROR},
      {setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 0x1000000), NGHTTP2_PROTOCOL_ERROR},
      {setting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 2), NGHTTP2_PROTOCOL_ERROR},
      {setting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1) +
           setting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0),
       NGHTTP2_PROTOCOL_ERROR},
      {setting(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 2), NGHTTP2_PROTOCOL_ERROR},
      {setting(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1), NGHTTP2_NO_ERROR},
  };
  for (const auto& [payload, code] : all) {
    peer_settings settings;
    EXPECT_EQ(settings.take(payload), code);
  }
  peer_settings settings;
  EXPECT_EQ(settings.take({}), NGHTTP2_NO_ERROR);
  EXPECT_EQ(settings.take(setting(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1)),
            NGHTTP2_PROTOCOL_ERROR)
      << "it is said at first, or not";
}

}  // namespace
}  // namespace weft::http::http2
