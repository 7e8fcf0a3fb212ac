// Parts of a representation, by their bytes: Range and Content-Range (RFC 9110 section 14).
//
// Problem: a few bytes of request can ask for a file a thousand times over. Contract:
// parse_ranges() gives what to send: disjoint ranges in the order they were asked for, at most 16.
// Those that overlap, touch, or leave less than 80 bytes between them are made one
// (section 15.3.7.2 allows it; a part's head is longer), so that all of them together are never
// more than the representation. A field that is malformed, asks in another unit, or for more than
// 16 ranges, is `ignored`: send all of it with 200 (section 14.2 allows it). For GET alone, and
// behind the preconditions (preconditions.hpp): if_range() says whether the field counts at all.
// Nothing is allocated.
//
//   auto asked = http::parse_ranges(*r.header("range"), file_size);
//   if (asked.outcome == range_outcome::unsatisfiable) ...   // 416, Content-Range: bytes */1000
//   for (auto [first, last] : asked.all()) ...               // 206, Content-Range: bytes 0-99/1000
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::http {

// Both ends included.
struct byte_range {
  std::uint64_t first;
  std::uint64_t last;

  [[nodiscard]] constexpr std::uint64_t size_bytes() const noexcept { return last - first + 1; }
  friend constexpr bool operator==(byte_range, byte_range) noexcept = default;
};

enum class range_outcome : std::uint8_t { ignored, satisfiable, unsatisfiable };

struct range_set {
  static constexpr std::size_t capacity = 16;

  range_outcome outcome = range_outcome::ignored;
  std::uint8_t count = 0;  // of one: the content itself; of more: multipart/byteranges
  std::array<byte_range, capacity> ranges{};

  [[nodiscard]] std::span<const byte_range> all() const noexcept {
    return std::span{ranges}.first(count);
  }
};

// Of a representation of `size_bytes`.
[[nodiscard]] range_set parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept;

inline constexpr std::size_t content_range_bytes_max = 68;

// "bytes 0-99/1000" (RFC 9110 section 14.4); a view of `room`.
[[nodiscard]] std::string_view content_range(
    byte_range sent, std::uint64_t size_bytes,
    std::array<char, content_range_bytes_max>& room) noexcept;
// "bytes */1000", for 416.
[[nodiscard]] std::string_view unsatisfied_range(
    std::uint64_t size_bytes, std::array<char, content_range_bytes_max>& room) noexcept;

}  // namespace weft::http
