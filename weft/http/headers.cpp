#include <weft/http/headers.hpp>

#include <algorithm>
#include <cstring>

namespace weft::http {
namespace {

constexpr unsigned char to_lower(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte - unsigned{'A'} < 26 ? static_cast<unsigned char>(byte | 0x20) : byte;
}

/// The same of eight letters at once: a byte from 'A' on has its top bit in the one sum, a byte
/// beyond 'Z' in both, and none carries into the next.
std::uint64_t eight_to_lower(const char* at) noexcept {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t ascii = bytes & (0x7f * each);
  const std::uint64_t from_a = ascii + (0x80 - 'A') * each;
  const std::uint64_t beyond_z = ascii + (0x7f - 'Z') * each;
  const std::uint64_t is_upper = (from_a ^ beyond_z) & ~bytes & (0x80 * each);
  return bytes | (is_upper >> 2U);
}

}  // namespace

bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept {
  if (left.size() != right.size()) return false;
  constexpr std::size_t word = sizeof(std::uint64_t);
  const std::size_t size = left.size();
  if (size < word) return std::ranges::equal(left, right, {}, to_lower, to_lower);
  for (std::size_t i = 0; i < size; i += word) {
    const std::size_t at = std::min(i, size - word);  // the last one overlaps
    if (eight_to_lower(left.data() + at) != eight_to_lower(right.data() + at)) return false;
  }
  return true;
}

std::size_t header_list::index_of(std::string_view name, std::size_t from) const noexcept {
  for (std::size_t i = from; i < size_; ++i)
    if (equals_ignoring_case((*this)[i].name, name)) return i;
  return size_;
}

std::optional<std::string_view> header_list::find(std::string_view name) const noexcept {
  const std::size_t index = index_of(name);
  if (index == size_) return std::nullopt;
  return (*this)[index].value;
}

std::optional<std::string_view> header_list::only(std::string_view name) const noexcept {
  const std::size_t index = index_of(name);
  if (index == size_ || index_of(name, index + 1) != size_) return std::nullopt;
  return (*this)[index].value;
}

}  // namespace weft::http
