#include <weft/http/method.hpp>

#include <cstring>

namespace weft::http {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, method_count> method_names = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};

constexpr std::size_t longest_list() {
  std::size_t size = 0;
  for (std::string_view name : method_names) size += name.size() + 2;
  return size;
}
static_assert(longest_list() <= method_set::text_capacity);

}  // namespace

std::string_view to_string(method which) noexcept {
  return method_names[static_cast<std::size_t>(which)];
}

std::optional<method> parse_method(std::string_view name) noexcept {
  for (std::size_t i = 0; i < method_names.size(); ++i)
    if (method_names[i] == name) return static_cast<method>(i);
  return std::nullopt;
}

std::string_view method_set::text(std::array<char, text_capacity>& room) const noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < method_names.size(); ++i) {
    if (!contains(static_cast<method>(i))) continue;
    if (size != 0) {
      room[size++] = ',';
      room[size++] = ' ';
    }
    std::memcpy(room.data() + size, method_names[i].data(), method_names[i].size());
    size += method_names[i].size();
  }
  return {room.data(), size};
}

}  // namespace weft::http
