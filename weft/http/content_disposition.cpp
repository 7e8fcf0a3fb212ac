#include <weft/http/content_disposition.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/utf8.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

using field_syntax::parameter;

enum class charset : std::uint8_t { utf_8, latin_1, unknown };

charset read_charset(std::string_view name) noexcept {
  if (equals_ignoring_case(name, "UTF-8")) return charset::utf_8;
  return equals_ignoring_case(name, "ISO-8859-1") ? charset::latin_1 : charset::unknown;
}

// Takes texts into the room, one behind the other.
class text_store {
 public:
  explicit text_store(std::span<char> room) noexcept : room_{room} {}

  std::string_view keep_unquoted(const parameter& from) noexcept {
    if (!from.quoted || !from.value.contains('\\')) return from.value;
    std::size_t size = 0;
    for (std::size_t i = 0; i < from.value.size(); ++i) {
      const bool hides = from.value[i] == '\\' && i + 1 < from.value.size() &&
                         (from.value[i + 1] == '"' || from.value[i + 1] == '\\');
      if (hides) ++i;
      room_[size++] = from.value[i];
    }
    return take(size);
  }

  // charset'language'value-chars (RFC 8187 section 3.2.1). None in an unknown character set, and
  // where it is not what it says.
  std::optional<std::string_view> keep_extended(std::string_view text) noexcept {
    const std::size_t charset_end = text.find('\'');
    const std::size_t language_end = text.find('\'', charset_end + 1);
    if (charset_end == std::string_view::npos || language_end == std::string_view::npos)
      return std::nullopt;
    const charset in = read_charset(text.substr(0, charset_end));
    if (in == charset::unknown) return std::nullopt;
    text.remove_prefix(language_end + 1);
    std::size_t size = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        room_[size++] = text[i];
        continue;
      }
      const auto meant = scan::escaped_byte(text, i);
      if (!meant) return std::nullopt;
      size = put(in, *meant, size);
      i += 2;
    }
    const std::string_view decoded = take(size);
    return is_utf8(decoded) ? std::optional{decoded} : std::nullopt;
  }

 private:
  // In UTF-8. An escape has three bytes: there is room for two.
  std::size_t put(charset in, char byte, std::size_t at) noexcept {
    const auto value = static_cast<unsigned char>(byte);
    if (in == charset::utf_8 || value < 0x80) {
      room_[at] = byte;
      return at + 1;
    }
    room_[at] = static_cast<char>(0xc0U | value >> 6U);
    room_[at + 1] = static_cast<char>(0x80U | (value & 0x3fU));
    return at + 2;
  }
  std::string_view take(std::size_t size) noexcept {
    const std::string_view kept{room_.data(), size};
    room_ = room_.subspan(size);
    return kept;
  }
  std::span<char> room_;
};

// Of those we look at. False where it was there before.
bool assign_once(std::optional<std::string_view>& to, std::string_view text) noexcept {
  if (to) return false;
  to = text;
  return true;
}

}  // namespace

std::optional<content_disposition> parse_content_disposition(std::string_view value,
                                                             std::span<char> room) noexcept {
  WEFT_ASSERT(room.size() >= value.size(), "give as much room as the value has bytes");
  const std::size_t end = std::min(value.find(';'), value.size());
  content_disposition found{.type = field_syntax::trim(value.substr(0, end))};
  if (!field_syntax::is_token(found.type)) return std::nullopt;
  text_store store{room};
  std::optional<std::string_view> extended;
  bool is_extended = false;
  std::string_view rest = value.substr(end);
  for (parameter each;;) {
    if (!field_syntax::take_parameter(rest, each, &field_syntax::parse_loose_parameter))
      return std::nullopt;
    if (each.name.empty()) break;
    if (equals_ignoring_case(each.name, "name")) {
      if (each.value.empty() && !each.quoted) return std::nullopt;
      if (!assign_once(found.name, store.keep_unquoted(each))) return std::nullopt;
    } else if (equals_ignoring_case(each.name, "filename")) {
      if (!assign_once(found.filename, store.keep_unquoted(each))) return std::nullopt;
    } else if (equals_ignoring_case(each.name, "filename*")) {
      if (std::exchange(is_extended, true)) return std::nullopt;
      extended = each.value.empty() ? "" : store.keep_extended(each.value);
    }
  }
  found.has_unknown_filename = is_extended && !extended;
  found.has_extended_filename = extended && !extended->empty();
  if (found.has_extended_filename) found.filename = extended;
  return found;
}

}  // namespace weft::http
