#include <weft/http/entity_tag.hpp>

#include <weft/http/field_syntax.hpp>

namespace weft::http {
namespace {

// "!", "#" to "~", obs-text (RFC 9110 section 8.8.3).
bool is_etagc(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != '"' && byte != 0x7f;
}

// The tag at the front of `text`, which is then taken off.
std::optional<entity_tag> take_tag(std::string_view& text) noexcept {
  std::string_view rest = text;
  const bool weak = rest.starts_with("W/");
  if (weak) rest.remove_prefix(2);
  if (!rest.starts_with('"')) return std::nullopt;
  std::size_t end = 1;
  while (end < rest.size() && is_etagc(rest[end])) ++end;
  if (end == rest.size() || rest[end] != '"') return std::nullopt;
  text = rest.substr(end + 1);
  return entity_tag{.opaque = rest.substr(1, end - 1), .weak = weak};
}

}  // namespace

std::optional<entity_tag> parse_entity_tag(std::string_view text) noexcept {
  const auto found = take_tag(text);
  return text.empty() ? found : std::nullopt;
}

bool take_entity_tag(std::string_view& list, std::optional<entity_tag>& found) noexcept {
  found.reset();
  while (!list.empty() && (field_syntax::is_space(list.front()) || list.front() == ','))
    list.remove_prefix(1);
  if (list.empty()) return true;
  found = take_tag(list);
  list = field_syntax::trim(list);
  return found && (list.empty() || list.front() == ',');
}

}  // namespace weft::http
