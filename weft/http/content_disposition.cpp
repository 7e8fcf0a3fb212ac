#include <weft/http/content_disposition.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/base/utf8.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

using field_syntax::parameter;

// RFC 8187 section 3.2.1.
bool is_attribute_char(char c) noexcept {
  return scan::contains<scan::set::token>(c) && c != '*' && c != '\'' && c != '%';
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

  // UTF-8'language'value-chars (RFC 8187 section 3.2.1).
  std::optional<std::string_view> keep_extended(std::string_view text) noexcept {
    const std::size_t charset_end = text.find('\'');
    if (!equals_ignoring_case(text.substr(0, charset_end), "UTF-8")) return std::nullopt;
    const std::size_t language_end = text.find('\'', charset_end + 1);
    if (language_end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(language_end + 1);
    std::size_t size = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      char byte = text[i];
      if (byte == '%') {
        const auto meant = scan::escaped_byte(text, i);
        if (!meant) return std::nullopt;
        byte = *meant;
        i += 2;
      } else if (!is_attribute_char(byte)) {
        return std::nullopt;
      }
      room_[size++] = byte;
    }
    const std::string_view decoded = take(size);
    return is_utf8(decoded) ? std::optional{decoded} : std::nullopt;
  }

 private:
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
  std::string_view rest = value.substr(end);
  for (parameter each;;) {
    if (!field_syntax::take_parameter(rest, each)) return std::nullopt;
    if (each.name.empty()) break;
    if (equals_ignoring_case(each.name, "name")) {
      if (!assign_once(found.name, store.keep_unquoted(each))) return std::nullopt;
    } else if (equals_ignoring_case(each.name, "filename")) {
      if (!assign_once(found.filename, store.keep_unquoted(each))) return std::nullopt;
    } else if (equals_ignoring_case(each.name, "filename*")) {
      if (each.quoted || extended) return std::nullopt;
      extended = store.keep_extended(each.value);
      if (!extended) return std::nullopt;
    }
  }
  found.has_extended_filename = extended.has_value();
  if (extended) found.filename = extended;
  return found;
}

}  // namespace weft::http
