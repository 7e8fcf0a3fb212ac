#include <weft/http/response.hpp>

#include <array>

#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/problem.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

bool is_reserved(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 5> reserved = {
      "Content-Length", "Transfer-Encoding", "Connection", "Date", "Content-Type"};
  for (std::string_view each : reserved)
    if (equals_ignoring_case(name, each)) return true;
  return false;
}

// A value with white space around it would be read back without it.
bool is_field_value(std::string_view value) noexcept {
  return field_syntax::trim(value) == value && scan::consists_of<scan::set::field>(value);
}

}  // namespace

response response::empty(status code) noexcept {
  response made;
  made.code_ = code;
  return made;
}

response response::text(std::string body, status code) noexcept {
  return {code, text_plain, std::move(body)};
}

response response::json_text(std::string body, status code) noexcept {
  return {code, application_json, std::move(body)};
}

response response::problem(status code, std::string_view detail) {
  response made;
  made.code_ = code;
  made.content_type_ = problem_content_type;
  write_problem({.status = code, .detail = detail, .offset = {}, .path = {}}, made.body_);
  return made;
}

bool response::may_add(std::string_view name, std::string_view value) noexcept {
  return field_syntax::is_token(name) && !is_reserved(name) && is_field_value(value);
}

result<> response::add_field(std::string_view name, std::string_view value) {
  if (!may_add(name, value)) return fail(errc::invalid_argument);
  append_line(name, value);
  return {};
}

result<> response::set_content_type(std::string_view type) {
  if (type.empty() || !is_field_value(type)) return fail(errc::invalid_argument);
  if (has_own_type_) fields_.erase(0, fields_.find('\n') + 1);
  std::string others = std::move(fields_);
  fields_.clear();
  append_line("Content-Type", type);
  fields_ += others;
  content_type_ = {};
  has_own_type_ = true;
  return {};
}

response response::deferred(status code, std::string_view type, std::string_view fields,
                            std::string body) {
  response made;
  made.code_ = code;
  made.body_ = std::move(body);
  if (!type.empty()) made.append_line("Content-Type", type);
  made.has_own_type_ = !type.empty();
  made.fields_ += fields;
  return made;
}

void response::append_line(std::string_view name, std::string_view value) {
  fields_.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace weft::http
