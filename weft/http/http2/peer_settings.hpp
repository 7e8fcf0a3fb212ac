// What the other side has said by SETTINGS (RFC 9113 section 6.5.2), as far as it means something
// to a server.
//
// Contract: internal to http. take() is given the payload of a frame in which SETTINGS are whole,
// and gives the error of the connection, or NGHTTP2_NO_ERROR. Pure state. One shard.
//
//   if (const auto wrong = settings.take(payload); wrong != NGHTTP2_NO_ERROR) terminate(wrong);
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/http/http2/frame.hpp>

namespace weft::http::http2 {

class peer_settings {
 public:
  [[nodiscard]] std::uint32_t take(std::string_view payload) noexcept {
    constexpr std::size_t setting_bytes = 6;
    for (; !payload.empty(); payload.remove_prefix(setting_bytes)) {
      const std::uint32_t wrong =
          take_one(read_short(payload.data()), read_number(payload.data() + 2));
      if (wrong != NGHTTP2_NO_ERROR) return wrong;
    }
    is_first_ = false;
    return NGHTTP2_NO_ERROR;
  }

  /// Of each stream, for what is sent.
  [[nodiscard]] std::int64_t window_bytes() const noexcept { return window_bytes_; }
  /// The least that was ever said: what is encoded keeps to that.
  [[nodiscard]] std::uint32_t table_bytes() const noexcept { return table_bytes_; }

 private:
  static constexpr std::uint32_t first_table_bytes = 4'096;

  std::uint32_t take_one(std::uint32_t id, std::uint32_t value) noexcept {
    switch (id) {
      case NGHTTP2_SETTINGS_HEADER_TABLE_SIZE:
        if (value < table_bytes_) table_bytes_ = value;
        return NGHTTP2_NO_ERROR;
      case NGHTTP2_SETTINGS_ENABLE_PUSH:
        return value <= 1 ? NGHTTP2_NO_ERROR : NGHTTP2_PROTOCOL_ERROR;
      case NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE:
        if (value > window_most_bytes) return NGHTTP2_FLOW_CONTROL_ERROR;
        window_bytes_ = value;
        return NGHTTP2_NO_ERROR;
      case NGHTTP2_SETTINGS_MAX_FRAME_SIZE: {
        constexpr std::uint32_t largest = (1U << 24U) - 1;
        const bool may_be = value >= payload_most_bytes && value <= largest;
        return may_be ? NGHTTP2_NO_ERROR : NGHTTP2_PROTOCOL_ERROR;
      }
      case NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL: return take_lasting(value, connects_);
      case NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES:
        // RFC 9218 section 2.1: whoever says so says so at first.
        if (!is_first_ && value <= 1 && (value == 1) != knows_priorities_)
          return NGHTTP2_PROTOCOL_ERROR;
        return take_lasting(value, knows_priorities_);
      default: return NGHTTP2_NO_ERROR;
    }
  }
  /// What cannot be taken back once it was said (RFC 8441 section 3).
  static std::uint32_t take_lasting(std::uint32_t value, bool& said) noexcept {
    if (value > 1 || (said && value == 0)) return NGHTTP2_PROTOCOL_ERROR;
    said = value == 1;
    return NGHTTP2_NO_ERROR;
  }

  std::int64_t window_bytes_ = first_window_bytes;
  std::uint32_t table_bytes_ = first_table_bytes;
  bool connects_ = false;
  bool knows_priorities_ = false;
  bool is_first_ = true;
};

}  // namespace weft::http::http2
