// The Castagnoli checksum (RFC 9260 appendix A), which PROXY headers may carry.
//
// Contract: pure; a byte at a time by one table, since what is checked is a few hundred bytes. The
// checksum of two pieces is that of the second, started with that of the first. Private to
// weft/http's sources.
//
//   crc32c("123456789");   // 0xe3069283
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::http {

namespace detail {

constexpr std::array<std::uint32_t, 256> make_crc32c_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0x82f63b78u : 0u);
    table[byte] = value;
  }
  return table;
}

inline constexpr std::array<std::uint32_t, 256> crc32c_table = make_crc32c_table();

}  // namespace detail

[[nodiscard]] constexpr std::uint32_t crc32c(std::string_view bytes,
                                             std::uint32_t before = 0) noexcept {
  std::uint32_t value = ~before;
  for (char c : bytes)
    value = value >> 8 ^ detail::crc32c_table[(value ^ static_cast<unsigned char>(c)) & 0xff];
  return ~value;
}

static_assert(crc32c("123456789") == 0xe3069283u);
static_assert(crc32c("6789", crc32c("12345")) == crc32c("123456789"));

}  // namespace weft::http
