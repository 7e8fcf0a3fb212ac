#include <weft/http/safe_file_name.hpp>

#include <algorithm>

#include <weft/base/utf8.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

constexpr std::string_view nothing_left = "unnamed";

// C1 controls, and what embeds, overrides, isolates or marks a direction: with these a name that
// ends in "exe" reads as if it ended in "txt".
bool is_deceptive(std::string_view character) noexcept {
  if (character.size() == 2)
    return character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  if (character == "\xd8\x9c") return true;  // U+061C
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  return (second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

bool is_unsafe(std::string_view character) noexcept {
  if (character.size() > 1) return is_deceptive(character);
  const auto byte = static_cast<unsigned char>(character[0]);
  return byte < 0x20 || byte == 0x7f ||
         std::string_view{"<>:\"|?*"}.find(character[0]) != std::string_view::npos;
}

// Of Windows, whatever their extension.
bool is_device(std::string_view name) noexcept {
  const std::string_view stem = name.substr(0, name.find('.'));
  for (std::string_view device : {"CON", "PRN", "AUX", "NUL"})
    if (equals_ignoring_case(stem, device)) return true;
  const bool is_port = stem.size() == 4 && stem[3] >= '0' && stem[3] <= '9';
  return is_port && (equals_ignoring_case(stem.substr(0, 3), "COM") ||
                     equals_ignoring_case(stem.substr(0, 3), "LPT"));
}

bool is_trimmed(char c) noexcept { return c == ' ' || c == '.'; }

}  // namespace

std::string_view safe_file_name(std::string_view proposed,
                                std::array<char, file_name_bytes_max>& room) noexcept {
  const std::size_t slash = proposed.find_last_of("/\\");
  if (slash != std::string_view::npos) proposed.remove_prefix(slash + 1);
  while (!proposed.empty() && is_trimmed(proposed.front())) proposed.remove_prefix(1);
  while (!proposed.empty() && is_trimmed(proposed.back())) proposed.remove_suffix(1);

  std::size_t size = 0;
  if (is_device(proposed)) room[size++] = '_';
  while (!proposed.empty()) {
    const std::size_t known = utf8_size(proposed);
    const std::size_t bytes = std::max<std::size_t>(known, 1);
    const std::string_view character = proposed.substr(0, bytes);
    proposed.remove_prefix(bytes);
    const bool is_kept = known != 0 && !is_unsafe(character);
    const std::string_view written = is_kept ? character : "_";
    if (size + written.size() > room.size()) break;
    written.copy(room.data() + size, written.size());
    size += written.size();
  }
  // What was cut may end in one again.
  while (size != 0 && is_trimmed(room[size - 1])) --size;
  return size == 0 ? nothing_left : std::string_view{room.data(), size};
}

}  // namespace weft::http
