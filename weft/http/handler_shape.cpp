#include <weft/http/handler_shape.hpp>

#include <weft/base/format.hpp>

namespace weft::http {

std::expected<void, std::string> check_fit(const handler_shape& shape, method asked,
                                           std::string_view pattern) {
  if (shape.path.type == nullptr) return {};
  for (const weft::detail::option_field& each : shape.path.type->fields) {
    if (pattern.contains(weft::format("{{{}}}", each.name)) ||
        pattern.contains(weft::format("{{*{}}}", each.name)))
      continue;
    return std::unexpected(weft::format(
        "\"{0} {1}\": its handler takes \"{2}\" from the path, which has no {{{2}}}: write that "
        "into the pattern, or call the member of the http::path as the pattern does",
        to_string(asked), pattern, each.name));
  }
  return {};
}

}  // namespace weft::http
