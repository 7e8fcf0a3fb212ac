#include <weft/http/openapi_parameters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::http {
namespace {

using weft::detail::enumerator;
using weft::detail::option_field;
using weft::detail::option_kind;
using weft::detail::option_type;

/// Calls `f` with each piece of a pattern: a parameter, or text between two.
template <class F>
void for_each_piece(std::string_view pattern, F f) {
  while (!pattern.empty()) {
    const bool is_parameter = pattern.starts_with('{');
    const std::size_t size = is_parameter ? pattern.find('}') + 1 : pattern.find('{');
    const std::string_view piece = pattern.substr(0, size);
    f(piece, is_parameter);
    pattern.remove_prefix(piece.size());
  }
}

path_parameter_name name_in(std::string_view parameter) noexcept {
  const bool is_rest = parameter.starts_with("{*");
  parameter.remove_prefix(is_rest ? 2 : 1);
  parameter.remove_suffix(1);
  return {parameter, is_rest};
}

void append_bound(const member_bound& bound, json::composer& out) {
  if (bound.has_least()) out.name("minimum").raw(bound.least_text());
  if (bound.has_most()) out.name("maximum").raw(bound.most_text());
}

void append_whole(const option_type& type, const member_bound* bound, json::composer& out) {
  out.member("type", "integer");
  if (bound != nullptr) return append_bound(*bound, out);
  out.name("minimum").number(type.least);
  if (type.kind == option_kind::integer)
    out.name("maximum").number(static_cast<std::int64_t>(type.most));
  else
    out.name("maximum").number(type.most);
}

void append_real(const member_bound* bound, json::composer& out) {
  out.member("type", "number");
  if (bound != nullptr) append_bound(*bound, out);
}

/// As members of the object that is open.
void append_option_schema(const option_type& type, const member_bound* bound, json::composer& out) {
  switch (type.kind) {
    case option_kind::boolean: out.member("type", "boolean"); break;
    case option_kind::integer:
    case option_kind::unsigned_integer: append_whole(type, bound, out); break;
    case option_kind::floating: append_real(bound, out); break;
    case option_kind::enumeration:
      out.member("type", "string").name("enum").open_list();
      for (const enumerator& each : type.names) out.text(each.text);
      out.close_list();
      break;
    case option_kind::optional: append_option_schema(*type.element, bound, out); break;
    case option_kind::list:
      out.member("type", "array").name("items").open_object();
      append_option_schema(*type.element, bound, out);
      out.close_object();
      break;
    default: out.member("type", "string"); break;
  }
}

/// What is known of one parameter.
struct known_parameter {
  const option_field* field = nullptr;
  const member_bound* bound = nullptr;
  std::string_view text{};
};

known_parameter look_up(const parameter_set& in, std::string_view name) {
  if (in.type == nullptr) return {};
  const auto field = std::ranges::find(in.type->fields, name, &option_field::name);
  if (field == in.type->fields.end()) return {};
  known_parameter found{.field = &*field};
  // Bounds know their member by where it is.
  void* const sample = in.sample();
  found.bound = in.type->bound_of(sample, field->in(sample));
  for (const json::description& each : in.descriptions)
    if (each.name == name) found.text = each.text;
  return found;
}

void append_parameter(std::string_view called, std::string_view place, bool is_required,
                      const known_parameter& known, bool is_rest, json::composer& out) {
  out.open_object().member("name", called).member("in", place);
  if (!known.text.empty()) out.member("description", known.text);
  if (is_required) out.name("required").boolean(true);
  out.name("schema").open_object();
  const bool is_text = known.field == nullptr || known.field->type->kind == option_kind::text;
  if (known.field != nullptr)
    append_option_schema(*known.field->type, known.bound, out);
  else
    out.member("type", "string");
  if (is_text && place == "path" && !is_rest) out.name("minLength").number(std::uint64_t{1});
  out.close_object().close_object();
}

bool must_be_given(const option_field& field) noexcept {
  return field.type->kind != option_kind::optional && field.type->kind != option_kind::list;
}

}  // namespace

std::vector<path_parameter_name> path_parameter_names(std::string_view pattern) {
  std::vector<path_parameter_name> names;
  for_each_piece(pattern, [&](std::string_view piece, bool is_parameter) {
    if (is_parameter) names.push_back(name_in(piece));
  });
  return names;
}

std::string path_template(std::string_view pattern) {
  std::string text;
  for_each_piece(pattern, [&](std::string_view piece, bool is_parameter) {
    if (is_parameter)
      text.append("{").append(name_in(piece).text).append("}");
    else
      text.append(piece);
  });
  return text;
}

std::string path_key(std::string_view pattern) {
  std::string text;
  for_each_piece(pattern, [&](std::string_view piece, bool is_parameter) {
    text.append(is_parameter ? "{}" : piece);
  });
  return text;
}

void append_parameters(const handler_shape& shape, std::string_view pattern,
                       const std::vector<path_parameter_name>& names, json::composer& out) {
  const std::vector<path_parameter_name> own = path_parameter_names(pattern);
  const bool has_query = shape.query.type != nullptr && !shape.query.type->fields.empty();
  if (own.empty() && !has_query) return;
  out.name("parameters").open_list();
  for (std::size_t i = 0; i < own.size(); ++i)
    append_parameter(names[i].text, "path", true, look_up(shape.path, own[i].text), own[i].is_rest,
                     out);
  if (has_query)
    for (const option_field& each : shape.query.type->fields)
      append_parameter(each.name, "query", must_be_given(each), look_up(shape.query, each.name),
                       false, out);
  out.close_list();
}

}  // namespace weft::http
