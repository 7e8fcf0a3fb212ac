// For tests of coded messages: texts, coded and decoded in one go, and replies in chunks.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/http/content_decoder.hpp>
#include <weft/http/content_encoder.hpp>

namespace weft::http {

inline std::string encoded(std::string_view text, content_coding as) {
  auto encoder = content_encoder::make(as).value();
  std::string coded;
  std::array<char, 4096> room;
  for (;;) {
    const coding_progress made = encoder.encode(text, room, feed::end);
    text.remove_prefix(made.consumed_bytes);
    coded.append(room.data(), made.written_bytes);
    if (made.status != coding_status::need_room) return coded;
  }
}

/// What of `coded` can be read by now; `is_whole` says whether that is all of it.
inline std::string decoded(std::string_view coded, content_coding by, bool* is_whole = nullptr) {
  auto decoder = content_decoder::make(by, {.bytes = 1U << 30U, .ratio = 1'000'000}).value();
  std::string plain;
  std::array<char, 4096> room;
  for (;;) {
    const coding_progress made = decoder.decode(coded, room);
    coded.remove_prefix(made.consumed_bytes);
    plain.append(room.data(), made.written_bytes);
    if (made.status == coding_status::need_room) continue;
    EXPECT_NE(made.status, coding_status::failed);
    if (is_whole != nullptr) *is_whole = decoder.is_finished();
    return plain;
  }
}

/// The content of chunks, as far as they are whole.
inline std::string without_chunks(std::string_view body) {
  std::string content;
  for (;;) {
    const std::size_t line = body.find("\r\n");
    if (line == std::string_view::npos) return content;
    const auto size = std::stoul(std::string{body.substr(0, line)}, nullptr, 16);
    content += body.substr(line + 2, size);
    if (size == 0) return content;
    body.remove_prefix(std::min(body.size(), line + 2 + size + 2));
  }
}

/// A text that gets shorter, but not by so much that it is taken for a bomb.
inline std::string prose(std::size_t size_bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < size_bytes; ++i)
    text += std::to_string(i * i) + " is the square of " + std::to_string(i) + ". ";
  text.resize(size_bytes);
  return text;
}

}  // namespace weft::http
