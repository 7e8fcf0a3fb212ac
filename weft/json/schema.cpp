#include <weft/json/schema.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <weft/base/assert.hpp>

namespace weft::json {
namespace {

constexpr std::string_view dialect = "https://json-schema.org/draft/2020-12/schema";

bool is_of_name(char c) noexcept {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// "shop::page<shop::order>": "page_order", or with the namespaces "shop.page_shop.order".
std::string name_from(std::string_view type_name, bool with_namespaces) {
  std::string name;
  std::size_t begin = 0;  // in `name`, of the identifier with its namespaces
  for (std::size_t at = 0; at < type_name.size();) {
    if (type_name[at] == '(' || type_name[at] == '{') {  // (anonymous namespace), GCC: {anonymous}
      at = std::min(type_name.find_first_of(")}", at), type_name.size() - 1) + 1;
    } else if (type_name.substr(at).starts_with("::")) {
      if (with_namespaces && name.size() > begin) name.push_back('.');
      if (!with_namespaces) name.resize(begin);
      at += 2;
    } else if (is_of_name(type_name[at])) {
      name.push_back(type_name[at++]);
    } else {
      if (!name.empty() && name.back() != '_') name.push_back('_');
      begin = name.size();
      ++at;
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name.empty() ? "object" : name;
}

/// What generators of clients know; empty: none.
std::string_view format_of(const shape& integer) noexcept {
  using four = std::numeric_limits<std::int32_t>;
  using eight = std::numeric_limits<std::int64_t>;
  if (integer.least == four::min() && integer.most == std::uint64_t{four::max()}) return "int32";
  if (integer.least == eight::min() && integer.most == std::uint64_t{eight::max()}) return "int64";
  return {};
}

void append_integer(const shape& of, composer& out) {
  if (const std::string_view format = format_of(of); !format.empty()) out.member("format", format);
  out.name("minimum").number(of.least).name("maximum").number(of.most);
}

/// The name of a type that has no parts; empty: it has some.
std::string_view plain_type(shape_kind kind) noexcept {
  switch (kind) {
    case shape_kind::boolean: return "boolean";
    case shape_kind::integer: return "integer";
    case shape_kind::number: return "number";
    case shape_kind::text:
    case shape_kind::enumeration: return "string";
    case shape_kind::null: return "null";
    default: return {};
  }
}

void append_bound(const member_bound& bound, composer& out) {
  if (bound.has_least()) out.name("minimum").raw(bound.least_text());
  if (bound.has_most()) out.name("maximum").raw(bound.most_text());
}

enum class may_be_null : bool { no, yes };

void append_names(const shape& of, may_be_null null, composer& out) {
  out.name("enum").open_list();
  for (const weft::detail::enumerator& each : of.names) out.text(each.text);
  if (null == may_be_null::yes) out.raw("null");
  out.close_list();
}

/// Of a plain type, what it is bounded by.
void append_bounds(const shape& of, const member_bound* bound, may_be_null null, composer& out) {
  if (of.kind == shape_kind::enumeration) append_names(of, null, out);
  if (of.kind == shape_kind::text && of.longest == 1)
    out.name("maxLength").number(std::uint64_t{1});
  if (bound != nullptr)
    append_bound(*bound, out);
  else if (of.kind == shape_kind::integer)
    append_integer(of, out);
}

}  // namespace

schema_set::schema_set(std::string_view place, std::span<const shape_function> roots)
    : place_{place} {
  std::vector<const shape*> seen;
  for (const shape_function each : roots) collect(each(), seen);
  name_all();
}

void schema_set::collect(const shape& of, std::vector<const shape*>& seen) {
  if (!plain_type(of.kind).empty() || std::ranges::contains(seen, &of)) return;
  seen.push_back(&of);
  if (of.kind == shape_kind::object) definitions_.push_back({&of, {}});
  if (of.element != nullptr) collect(of.element(), seen);
  for (const shape_function each : of.alternatives) collect(each(), seen);
  for (const shape_member& each : of.members) collect(each.type(), seen);
}

void schema_set::name_all() {
  const auto others_of_name = [this](const definition& asked) {
    return std::ranges::count(definitions_, asked.name, &definition::name) > 1;
  };
  for (definition& each : definitions_) each.name = name_from(each.of->type_name, false);
  std::vector<definition*> unclear;
  for (definition& each : definitions_)
    if (others_of_name(each)) unclear.push_back(&each);
  for (definition* each : unclear) each->name = name_from(each->of->type_name, true);
  // Types of one name, each in an unnamed namespace of its own.
  std::size_t number = 1;
  for (definition* each : unclear)
    if (others_of_name(*each)) each->name += "_" + std::to_string(++number);
}

std::string_view schema_set::name_of(const shape& of) const {
  const auto found = std::ranges::find(definitions_, &of, &definition::of);
  WEFT_ASSERT(found != definitions_.end(), "a schema is asked for of what the set was made with");
  return found->name;
}

void schema_set::append(const shape& of, composer& out, std::string_view text,
                        const member_bound* bound) const {
  out.open_object();
  if (!text.empty()) out.member("description", text);
  append_keywords(of, out, bound);
  out.close_object();
}

void schema_set::append_keywords(const shape& of, composer& out, const member_bound* bound) const {
  switch (of.kind) {
    case shape_kind::any: break;
    case shape_kind::nullable: append_nullable(of.element(), bound, out); break;
    case shape_kind::list:
      out.member("type", "array").name("items");
      append(of.element(), out, {}, bound);
      if (of.longest != std::numeric_limits<std::size_t>::max())
        out.name("maxItems").number(std::uint64_t{of.longest});
      break;
    case shape_kind::map:
      out.member("type", "object");
      if (!of.names.empty()) {
        out.name("propertyNames").open_object();
        append_names(of, may_be_null::no, out);
        out.close_object();
      }
      out.name("additionalProperties");
      append(of.element(), out);
      break;
    case shape_kind::choice:
      out.name("anyOf");
      append_alternatives(of, out);
      break;
    case shape_kind::tuple:
      out.member("type", "array").name("prefixItems");
      append_alternatives(of, out);
      out.name("minItems").number(std::uint64_t{of.longest});
      out.name("maxItems").number(std::uint64_t{of.longest});
      break;
    case shape_kind::object: out.member("$ref", std::string{place_}.append(name_of(of))); break;
    default:
      out.member("type", plain_type(of.kind));
      append_bounds(of, bound, may_be_null::no, out);
      break;
  }
}

void schema_set::append_alternatives(const shape& of, composer& out) const {
  out.open_list();
  for (const shape_function each : of.alternatives) append(each(), out);
  out.close_list();
}

/// As members of the object that is open.
void schema_set::append_nullable(const shape& of, const member_bound* bound, composer& out) const {
  if (of.kind == shape_kind::any) return;
  if (const std::string_view type = plain_type(of.kind); !type.empty()) {
    out.name("type").open_list().text(type).text("null").close_list();
    append_bounds(of, bound, may_be_null::yes, out);
    return;
  }
  out.name("anyOf").open_list();
  append(of, out, {}, bound);
  out.open_object().member("type", "null").close_object().close_list();
}

void schema_set::append_members(const shape& of, composer& out) const {
  out.name("properties").open_object();
  for (const shape_member& each : of.members) {
    const shape& type = each.type();
    const bool is_bare = each.is_required && type.kind == shape_kind::nullable;
    out.name(each.name);
    append(is_bare ? type.element() : type, out, each.text,
           each.bound == nullptr ? nullptr : each.bound());
  }
  out.close_object();
}

void schema_set::append_definitions(composer& out) const {
  for (const definition& each : definitions_) {
    const shape& of = *each.of;
    out.name(each.name).open_object().member("type", "object");
    if (!of.text.empty()) out.member("description", of.text);
    append_members(of, out);
    const auto is_required = [](const shape_member& member) {
      return member.is_required || member.type().kind != shape_kind::nullable;
    };
    if (std::ranges::any_of(of.members, is_required)) {
      out.name("required").open_list();
      for (const shape_member& member : of.members)
        if (is_required(member)) out.text(member.name);
      out.close_list();
    }
    out.name("additionalProperties").boolean(false).close_object();
  }
}

std::string schema_text(shape_function of) {
  std::string text;
  composer out{text};
  const schema_set schemas{"#/$defs/", {&of, 1}};
  out.open_object().member("$schema", dialect);
  schemas.append_keywords(of(), out);
  out.name("$defs").open_object();
  schemas.append_definitions(out);
  out.close_object().close_object();
  return text;
}

}  // namespace weft::json
