// The parameters of a route, as OpenAPI has them. Internal to http.
//
// Contract: pure. A pattern's parameters are strings, unless its handler takes them by http::path;
// then, and in a query, they have the type and the bounds of the member.
//
//   path_template("/files/{id}/{*rest}");   // "/files/{id}/{rest}"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/http/handler_shape.hpp>
#include <weft/json/composer.hpp>

namespace weft::http {

struct path_parameter_name {
  std::string_view text;
  bool is_rest = false;
};

/// In the order of the pattern.
[[nodiscard]] std::vector<path_parameter_name> path_parameter_names(std::string_view pattern);
/// As OpenAPI writes it.
[[nodiscard]] std::string path_template(std::string_view pattern);
/// Equal for patterns that OpenAPI takes for one: all but the names of the parameters.
[[nodiscard]] std::string path_key(std::string_view pattern);

/// As a member of the object that is open, if there are any. `names`: what the parameters are
/// called in the template, which may be that of another route at the same path.
void append_parameters(const handler_shape& shape, std::string_view pattern,
                       const std::vector<path_parameter_name>& names, json::composer& out);

}  // namespace weft::http
