#include <weft/http/content_type.hpp>

#include <algorithm>
#include <array>

#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

constexpr std::size_t parameters_max = 16;

constexpr auto* parse_each = &field_syntax::parse_loose_parameter;

bool are_parameters(std::string_view text) noexcept {
  std::array<std::string_view, parameters_max> names;
  std::size_t count = 0;
  field_syntax::parameter each;
  while (field_syntax::take_parameter(text, each, parse_each)) {
    if (each.name.empty()) return true;
    if (count == names.size()) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (equals_ignoring_case(names[i], each.name)) return false;
    names[count++] = each.name;
  }
  return false;
}

}  // namespace

bool content_type::is(std::string_view wanted_type,
                      std::string_view wanted_subtype) const noexcept {
  return equals_ignoring_case(type, wanted_type) && equals_ignoring_case(subtype, wanted_subtype);
}

std::optional<std::string_view> content_type::parameter(std::string_view name,
                                                        std::span<char> room) const noexcept {
  std::string_view rest = parameters;
  field_syntax::parameter each;
  while (field_syntax::take_parameter(rest, each, parse_each) && !each.name.empty())
    if (equals_ignoring_case(each.name, name)) return field_syntax::unquote(each, room);
  return std::nullopt;
}

std::optional<content_type> parse_content_type(std::string_view value) noexcept {
  const std::size_t end = std::min(value.find(';'), value.size());
  const std::string_view essence = field_syntax::trim(value.substr(0, end));
  const std::size_t slash = essence.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const content_type found{.type = essence.substr(0, slash),
                           .subtype = essence.substr(slash + 1),
                           .parameters = value.substr(end)};
  if (!field_syntax::is_token(found.type) || !field_syntax::is_token(found.subtype) ||
      !are_parameters(found.parameters))
    return std::nullopt;
  return found;
}

}  // namespace weft::http
