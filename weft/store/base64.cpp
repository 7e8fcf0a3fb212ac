#include <weft/store/base64.hpp>

#include <array>
#include <cstdint>

namespace weft::store {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> digits = [] {
  std::array<std::uint8_t, 256> made{};
  made.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    made[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return made;
}();

constexpr std::uint32_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

constexpr std::uint8_t digit_at(std::string_view text, std::size_t at) noexcept {
  return digits[static_cast<unsigned char>(text[at])];
}

}  // namespace

void append_base64(std::string_view bytes, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + before;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t group =
        byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = alphabet[group >> shift & 63];
  }
  const std::size_t missing = (3 - bytes.size() % 3) % 3;
  for (std::size_t i = 0; i < missing; ++i) *--to = '=';
}

std::optional<std::size_t> decode_base64(std::string_view text, std::span<char> room) noexcept {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::size_t size = decoded_size_max(text.size()) - padding;
  for (std::size_t at = 0, written = 0; at < text.size(); at += 4) {
    const bool is_last = at + 4 == text.size();
    const std::size_t count = is_last ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t digit = digit_at(text, at + i);
      if (digit == no_digit) return std::nullopt;
      group |= static_cast<std::uint32_t>(digit) << (18 - 6 * i);
    }
    const std::size_t bytes = count - 1;
    if ((group & ((1U << (8 * (3 - bytes))) - 1)) != 0) return std::nullopt;
    for (std::size_t i = 0; i < bytes; ++i)
      room[written++] = static_cast<char>(group >> (16 - 8 * i));
  }
  return size;
}

}  // namespace weft::store
