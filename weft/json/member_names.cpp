#include <weft/json/member_names.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include <weft/json/lent.hpp>

namespace weft::json::detail {

bool is_hidden_name(const char* name, std::span<const std::string_view> known) noexcept {
  const char* end = name;
  bool is_escaped = false;
  for (; *end != '"' && *end != '\0'; ++end) {
    if (*end != '\\') continue;
    is_escaped = true;
    if (*++end == '\0') return false;
  }
  // A character takes at most six to spell it.
  std::array<char, 6 * 128 + 3> copy;
  const auto size = static_cast<std::size_t>(end - name) + 2;  // with its quotes
  if (!is_escaped || *end != '"' || size >= copy.size()) return false;
  std::memcpy(copy.data(), name - 1, size);
  copy[size] = '\0';
  const char* at = copy.data();
  const auto meant = decode_in_place(at, copy.data() + size);
  return meant && std::ranges::contains(known, *meant);
}

}  // namespace weft::json::detail
