#include <weft/json/pointer.hpp>

#include <charconv>
#include <cstring>
#include <limits>

namespace weft::json {

namespace {

constexpr std::string_view ellipsis = "...";
static_assert(pointer::capacity <= std::numeric_limits<unsigned char>::max());

bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

// All or nothing, so that a cut never splits a character or a ~0.
void pointer::put(std::string_view character) noexcept {
  if (cut_) return;
  if (size_ + character.size() + ellipsis.size() > capacity) {
    cut_ = true;
    character = ellipsis;
  }
  std::memcpy(text_ + size_, character.data(), character.size());
  size_ = static_cast<unsigned char>(size_ + character.size());
}

void pointer::push_name(std::string_view name) noexcept {
  put("/");
  while (!name.empty() && !cut_) {
    std::size_t length = 1;
    while (length < name.size() && length < 4 && continues_character(name[length])) ++length;
    switch (name.front()) {
      case '~': put("~0"); break;
      case '/': put("~1"); break;
      default: put(name.substr(0, length));
    }
    name.remove_prefix(length);
  }
}

void pointer::push_index(std::size_t index) noexcept {
  char digits[std::numeric_limits<std::size_t>::digits10 + 2] = {'/'};
  const std::to_chars_result end = std::to_chars(digits + 1, std::end(digits), index);
  put({digits, end.ptr});
}

}  // namespace weft::json
