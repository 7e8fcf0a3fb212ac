#include <weft/service/config_printer.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/log_escape.hpp>
#include <weft/base/without_user.hpp>
#include <weft/service/config_text.hpp>

namespace weft::detail {
namespace {

std::string name_text(const option_type& type, std::uint64_t bits) {
  const auto found =
      std::ranges::find(type.names, static_cast<std::int64_t>(bits), &enumerator::value);
  return detail::quoted(found == type.names.end() ? std::string_view{"?"} : found->text);
}

std::string list_text(const option_type& type, const void* object) {
  std::string text = "[";
  for (std::size_t i = 0; i < type.size(object); ++i)
    text +=
        weft::format("{}{}", i == 0 ? "" : ", ", option_text(*type.element, type.at(object, i)));
  return text + "]";
}

std::string table_text(const option_type& type, const void* object) {
  std::string text = "{";
  for (const option_field& field : type.fields) {
    if (field.type == nullptr) continue;
    const std::string value = option_text(*field.type, field.in(const_cast<void*>(object)));
    if (value.empty()) continue;
    text += weft::format("{}{} = {}", text.size() == 1 ? " " : ", ", field.name, value);
  }
  return text + " }";
}

}  // namespace

std::string option_text(const option_type& type, const void* object) {
  switch (type.kind) {
    case option_kind::boolean: return type.bits(object) != 0 ? "true" : "false";
    case option_kind::integer:
      return weft::format("{}", static_cast<std::int64_t>(type.bits(object)));
    case option_kind::unsigned_integer: return weft::format("{}", type.bits(object));
    case option_kind::floating: return real_text(type.real(object));
    case option_kind::text:
      return detail::quoted(without_password(*static_cast<const std::string*>(object)));
    case option_kind::enumeration: return name_text(type, type.bits(object));
    case option_kind::duration: {
      // What is longer than 292 years is no longer told apart.
      const std::int64_t most = std::numeric_limits<std::int64_t>::max() / type.tick_ns;
      const auto ticks = static_cast<std::int64_t>(type.bits(object));
      return detail::quoted(time_text(std::clamp(ticks, -most, most) * type.tick_ns));
    }
    case option_kind::optional:
      return type.size(object) == 0 ? std::string{}
                                    : option_text(*type.element, type.at(object, 0));
    case option_kind::list: return list_text(type, object);
    case option_kind::table: break;
  }
  return table_text(type, object);
}

void visit_options(const option_type& table, void* object, const std::string& path,
                   option_visit& visit) {
  for (const option_field& field : table.fields) {
    if (field.type == nullptr) continue;
    const std::string name = weft::format("{}.{}", path, field.name);
    void* const value = field.in(object);
    if (field.type->kind == option_kind::table)
      visit_options(*field.type, value, name, visit);
    else
      visit({name, *field.type, value, table.bound_of(object, value)});
  }
}

void print_section(const option_type& table, void* object, const std::string& path,
                   option_origin& origin_of, std::string& out) {
  std::vector<std::pair<std::string, std::string>> lines;  // with their origins
  std::size_t widest = 0;
  for (const option_field& field : table.fields) {
    if (field.type == nullptr || field.type->kind == option_kind::table) continue;
    const std::string value = option_text(*field.type, field.in(object));
    std::string line = value.empty() ? weft::format("# {} is not set", field.name)
                                     : weft::format("{} = {}", field.name, value);
    constexpr std::size_t widest_aligned = 60;
    if (line.size() <= widest_aligned) widest = std::max(widest, line.size());
    lines.emplace_back(std::move(line), origin_of(weft::format("{}.{}", path, field.name)));
  }
  out += weft::format("{}[{}]\n", out.empty() ? "" : "\n", path);
  for (const auto& [line, origin] : lines)
    out += weft::format("{:<{}}  # {}\n", line, widest, log::escaped(origin));
  for (const option_field& field : table.fields)
    if (field.type != nullptr && field.type->kind == option_kind::table)
      print_section(*field.type, field.in(object), weft::format("{}.{}", path, field.name),
                    origin_of, out);
}

}  // namespace weft::detail
