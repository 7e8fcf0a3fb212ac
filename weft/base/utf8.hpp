// Whether bytes are UTF-8.
//
// Contract: by RFC 3629: shortest forms only, no surrogates, nothing above U+10FFFF.
//
//   while (!text.empty()) text.remove_prefix(utf8_size(text));   // until it is 0: not UTF-8
#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

// Bytes of the character at the start of `text`, which is not empty; 0 where there is none.
[[nodiscard]] constexpr std::size_t utf8_size(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xc2 && first < 0xe0   ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  const bool too_long = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool not_a_character = (first == 0xed && at(1) > 0x9f) || (first == 0xf4 && at(1) > 0x8f);
  return too_long || not_a_character ? 0 : size;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = utf8_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace weft
