#include <weft/http/field_syntax.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>

namespace weft::http::field_syntax {
namespace {

// Behind the quoted string that begins at `at`; npos where it does not end, or holds what it may
// not (RFC 9110 section 5.6.4).
std::size_t end_of_quoted(std::string_view text, std::size_t at) noexcept {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
    if (at == text.size() || !scan::contains<scan::set::field>(text[at])) break;
  }
  return std::string_view::npos;
}

// Of the first `separator` outside of quoted strings, or the size.
std::size_t end_of_element(std::string_view list, char separator) noexcept {
  std::size_t at = 0;
  while (at < list.size() && list[at] != separator) {
    at = list[at] == '"' ? end_of_quoted(list, at) : at + 1;
    if (at == std::string_view::npos) return list.size();
  }
  return at;
}

// Of a text without "=" it is empty.
std::string_view behind_equals(std::string_view text) noexcept {
  const std::size_t equals = text.find('=');
  return equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
}

bool may_be_loose(char c) noexcept {
  return scan::contains<scan::set::token>(c) || c == '(' || c == ')';
}

// `is_plain` says what a value without quotes consists of.
std::optional<parameter> parse(std::string_view name, std::string_view value,
                               bool (*is_plain)(char)) noexcept {
  if (!is_token(name)) return std::nullopt;
  if (std::ranges::all_of(value, is_plain)) return parameter{.name = name, .value = value};
  if (value.front() != '"' || end_of_quoted(value, 0) != value.size()) return std::nullopt;
  return parameter{.name = name, .value = value.substr(1, value.size() - 2), .quoted = true};
}

}  // namespace

std::string_view take_element(std::string_view& list, char separator) noexcept {
  const std::size_t end = end_of_element(list, separator);
  const std::string_view element = trim(list.substr(0, end));
  list.remove_prefix(end == list.size() ? end : end + 1);
  return element;
}

std::optional<parameter> parse_parameter(std::string_view text) noexcept {
  const std::string_view value = behind_equals(text);
  if (value.empty()) return std::nullopt;
  return parse(text.substr(0, text.find('=')), value, &scan::contains<scan::set::token>);
}

std::optional<parameter> parse_loose_parameter(std::string_view text) noexcept {
  return parse(trim(text.substr(0, text.find('='))), trim(behind_equals(text)), &may_be_loose);
}

bool take_parameter(std::string_view& rest, parameter& next, parameter_parser parse) noexcept {
  next = {};
  rest = trim(rest);
  while (!rest.empty()) {
    if (rest.front() != ';') return false;
    rest.remove_prefix(1);
    const std::size_t end = end_of_element(rest, ';');
    const std::string_view text = trim(rest.substr(0, end));
    rest.remove_prefix(end);
    if (text.empty()) continue;
    const auto found = parse(text);
    if (!found) return false;
    next = *found;
    return true;
  }
  return true;
}

std::string_view unquote(const parameter& of, std::span<char> room) noexcept {
  if (!of.quoted || !of.value.contains('\\')) return of.value;
  WEFT_ASSERT(room.size() >= of.value.size(), "give as much room as the value has bytes");
  std::size_t size = 0;
  for (std::size_t i = 0; i < of.value.size(); ++i) {
    if (of.value[i] == '\\') ++i;
    room[size++] = of.value[i];
  }
  return {room.data(), size};
}

}  // namespace weft::http::field_syntax
