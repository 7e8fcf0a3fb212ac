#include <weft/store/mysql/key_index.hpp>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <weft/base/assert.hpp>

namespace weft::store::mysql {
namespace {

bool is_content(value_kind kind) noexcept {
  return kind == value_kind::text || kind == value_kind::bytes;
}

bool is_same_part(const value& left, const value& right) noexcept {
  if (left.kind() == right.kind()) return left == right;
  if (is_content(left.kind()) && is_content(right.kind())) return left.as_text() == right.as_text();
  if (left.kind() == value_kind::int64 && right.kind() == value_kind::uint64)
    return std::cmp_equal(left.as_integer(), right.as_natural());
  if (left.kind() == value_kind::uint64 && right.kind() == value_kind::int64)
    return std::cmp_equal(left.as_natural(), right.as_integer());
  return false;
}

/// The same for parts that are the same.
std::uint64_t hash_of(const value& part) noexcept {
  switch (part.kind()) {
    case value_kind::int64: return static_cast<std::uint64_t>(part.as_integer());
    case value_kind::uint64: return part.as_natural();
    case value_kind::text:
    case value_kind::bytes: return std::hash<std::string_view>{}(part.as_text());
    default: return 0;
  }
}

}  // namespace

key_index::key_index(std::span<const key_read> operations,
                     std::span<const std::size_t> asked) noexcept
    : operations_{operations}, asked_{asked} {
  WEFT_ASSERT(asked.size() <= operations_max, "an index is of so many operations at most");
  slots_.fill(nobody);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::size_t at = place_of(operations[asked[i]].key);
    while (slots_[at] != nobody) at = (at + 1) % slots_max;
    slots_[at] = static_cast<std::uint8_t>(i);
  }
}

std::size_t key_index::place_of(std::span<const value> key) noexcept {
  constexpr std::uint64_t spread = 0x9E37'79B9'7F4A'7C15;  // 2^64 by the golden ratio
  std::uint64_t hash = 0;
  for (const value& part : key) hash = (hash ^ hash_of(part)) * spread;
  return hash >> 56U;
}

bool key_index::is_same(std::span<const value> left, std::span<const value> right) noexcept {
  return std::ranges::equal(left, right, &is_same_part);
}

}  // namespace weft::store::mysql
