// Values that stay, though what they were views of does not.
//
//   std::size_t bytes = 0;
//   kept.push_back(copy_value(row[0], room, bytes));  // good until room.clear()
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <weft/store/scratch.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

/// How many a value has beside itself.
[[nodiscard]] inline std::size_t bytes_of(const value& of) noexcept {
  const bool has_any = of.kind() == value_kind::text || of.kind() == value_kind::bytes;
  return has_any ? of.as_text().size() : 0;
}

/// How many they have in all.
[[nodiscard]] inline std::size_t bytes_of(std::span<const value> of) noexcept {
  std::size_t bytes = of.size_bytes();
  for (const value& each : of) bytes += bytes_of(each);
  return bytes;
}

/// Adds to `bytes` how many it has beside itself.
[[nodiscard]] inline value copy_value(const value& from, scratch& room, std::size_t& bytes) {
  if (from.kind() != value_kind::text && from.kind() != value_kind::bytes) return from;
  const std::string_view content = room.copy(from.as_text());
  bytes += content.size();
  return from.kind() == value_kind::text ? value::text(content) : value::bytes(content);
}

/// Adds to `bytes` how many they have in all.
[[nodiscard]] inline std::span<const value> copy_values(std::span<const value> from, scratch& room,
                                                        std::size_t& bytes) {
  const std::span<value> copies = room.make_array<value>(from.size());
  bytes += copies.size_bytes();
  for (std::size_t i = 0; i < from.size(); ++i) copies[i] = copy_value(from[i], room, bytes);
  return copies;
}

}  // namespace weft::store
