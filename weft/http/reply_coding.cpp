#include <weft/http/reply_coding.hpp>

#include <initializer_list>

#include <weft/http/field_syntax.hpp>
#include <weft/http/file_types.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

struct field_line {
  std::string_view name;
  std::string_view value;
  std::string_view whole;  // with its line end
};

field_line take_line(std::string_view& fields) noexcept {
  const std::size_t end = fields.find("\r\n");
  const std::size_t size = end == std::string_view::npos ? fields.size() : end + 2;
  const std::string_view line = fields.substr(0, end);
  const std::size_t colon = line.find(':');
  const field_line taken{.name = line.substr(0, colon),
                         .value = colon == std::string_view::npos
                                      ? std::string_view{}
                                      : field_syntax::trim(line.substr(colon + 1)),
                         .whole = fields.substr(0, size)};
  fields.remove_prefix(size);
  return taken;
}

/// Whether a field of that name has the element, or, where that is empty, is there at all.
bool has_element(std::initializer_list<std::string_view> all, std::string_view name,
                 std::string_view element) noexcept {
  for (std::string_view fields : all) {
    while (!fields.empty()) {
      const field_line line = take_line(fields);
      if (!equals_ignoring_case(line.name, name)) continue;
      if (element.empty()) return true;
      for (std::string_view rest = line.value; !rest.empty();)
        if (equals_ignoring_case(field_syntax::take_element(rest), element)) return true;
    }
  }
  return false;
}

std::string_view type_of(const reply_facts& facts) noexcept {
  if (!facts.content_type.empty()) return facts.content_type;
  for (std::string_view fields = facts.fields; !fields.empty();) {
    const field_line line = take_line(fields);
    if (equals_ignoring_case(line.name, "content-type")) return line.value;
  }
  return {};
}

}  // namespace

bool may_be_coded(const reply_facts& facts, std::uint64_t least_bytes) noexcept {
  const auto has = [&facts](std::string_view name, std::string_view element = {}) {
    return has_element({facts.fields, facts.added}, name, element);
  };
  if (facts.code == status::not_modified) return has("etag");
  if (is_bodiless(facts.code) || facts.code == status::partial_content) return false;
  if (facts.length_bytes && *facts.length_bytes < least_bytes) return false;
  return is_compressible(type_of(facts)) && !has("content-encoding") && !has("content-range") &&
         !has("cache-control", "no-transform");
}

bool lacks_vary(const reply_facts& facts) noexcept {
  return !has_element({facts.fields, facts.added}, "vary", "accept-encoding") &&
         !has_element({facts.fields, facts.added}, "vary", "*");
}

void append_coded_fields(std::string& out, std::string_view fields, content_coding coding) {
  while (!fields.empty()) {
    const field_line line = take_line(fields);
    if (equals_ignoring_case(line.name, "accept-ranges")) continue;
    if (equals_ignoring_case(line.name, "etag") && line.value.starts_with('"'))
      out.append("ETag: W/").append(line.value).append("\r\n");
    else
      out.append(line.whole);
  }
  if (coding != content_coding::identity)
    out.append("Content-Encoding: ").append(to_string(coding)).append("\r\n");
}

}  // namespace weft::http
