// Base64 (RFC 4648 section 4): how JSON carries bytes.
//
// Contract: the standard alphabet, padded; decoding is strict: no white space, no missing padding,
// and no bits that are thrown away, so that bytes have one text.
//
//   append_base64(bytes, out);
//   if (const auto size = decode_base64(text, room)) use(room.first(*size));
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::store {

void append_base64(std::string_view bytes, std::string& out);

/// How much room decoding may take.
[[nodiscard]] constexpr std::size_t decoded_size_max(std::size_t text_size) noexcept {
  return text_size / 4 * 3;
}

/// Bytes written into `room`, which has decoded_size_max() or more; none: that is no Base64.
[[nodiscard]] std::optional<std::size_t> decode_base64(std::string_view text,
                                                       std::span<char> room) noexcept;

}  // namespace weft::store
