#include <weft/http/cors.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <weft/http/field_syntax.hpp>
#include <weft/http/target.hpp>

namespace weft::http {
namespace {

// scheme "://" host [ ":" port ] as browsers serialise it (HTML Standard, "ascii serialisation of
// an origin").
bool is_origin(std::string_view text) noexcept {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return false;
  const bool has_capitals = std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  const bool is_scheme = std::ranges::all_of(text.substr(0, colon), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  return !has_capitals && is_scheme && !text.ends_with(':') &&
         is_host_and_port(text.substr(colon + 3));
}

std::string join(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

}  // namespace

std::string_view cors::fault_of(const cors_policy& policy) noexcept {
  const bool any = std::ranges::find(policy.origins, "*") != policy.origins.end();
  if (policy.origins.empty()) return "no origin is allowed: name some, or \"*\"";
  if (any && policy.origins.size() > 1) return "\"*\" allows all origins: name no others";
  if (any && policy.credentials) return "credentials for any origin: name the origins";
  for (const std::string& each : policy.origins)
    if (!any && !is_origin(each))
      return "an origin is scheme://host[:port], in small letters and without a path";
  for (const auto* names : {&policy.request_headers, &policy.exposed_headers})
    for (const std::string& each : *names)
      if (!field_syntax::is_token(each) || each == "*") return "a header's name must be a token";
  return {};
}

result<cors> cors::make(cors_policy policy) {
  if (!fault_of(policy).empty()) return fail(errc::invalid_argument);
  return cors{std::move(policy)};
}

cors::cors(cors_policy policy)
    : policy_{std::move(policy)},
      any_origin_{policy_.origins.front() == "*"},
      request_headers_{join(policy_.request_headers)},
      exposed_headers_{join(policy_.exposed_headers)},
      max_age_{std::to_string(policy_.max_age_seconds)} {
  method_set methods;
  for (method each : policy_.methods) methods.insert(each);
  std::array<char, method_set::text_capacity> room;
  methods_ = methods.text(room);
}

bool cors::allows(std::string_view origin) const noexcept {
  return any_origin_ || std::ranges::find(policy_.origins, origin) != policy_.origins.end();
}

void cors::operator()(exchange& e, handler& next) const {
  const cors_decision said = decide(e.request().method(), e.request().headers());
  for (const auto& [name, value] : said.fields()) std::ignore = e.add_field(name, value);
  if (said.is_preflight()) return e.reply(status::no_content, {}, {});
  next(e);
}

cors_question cors_question::of(method asked, const header_list& headers) noexcept {
  cors_question found;
  const std::size_t at = headers.index_of("origin");
  if (at == headers.size()) return found;
  found.origin = headers[at].value;
  found.origins = headers.index_of("origin", at + 1) == headers.size() ? 1 : 2;
  found.is_preflight =
      asked == method::options && headers.find("access-control-request-method").has_value();
  return found;
}

cors_question cors_question::of_part(std::string_view head) noexcept {
  cors_question found;
  if (head.starts_with("\r\n")) head.remove_prefix(2);
  for (bool is_field = false;; is_field = true) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos || end == 0) return found;
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::size_t colon = line.find(':');
    if (!is_field || !equals_ignoring_case(line.substr(0, colon), "origin")) continue;
    if (found.origins++ == 0)
      found.origin = field_syntax::trim(line.substr(std::min(colon + 1, line.size())));
  }
}

void cors::append_fields(const cors_question& asked, std::string& lines) const {
  const cors_decision said = decide(asked);
  for (const auto& [name, value] : said.fields())
    lines.append(name).append(": ").append(value).append("\r\n");
}

cors_decision cors::decide(const cors_question& asked) const noexcept {
  cors_decision said;
  // Caches must not give one origin's reply to another, nor to a request without one.
  if (!any_origin_) said.add("Vary", "Origin");
  if (asked.origins == 0) return said;
  said.is_preflight_ = asked.is_preflight;
  if (asked.origins != 1 || !allows(asked.origin)) {
    said.kind_ = cors_kind::denied;
    return said;
  }
  said.kind_ = said.is_preflight_ ? cors_kind::preflight : cors_kind::actual;
  said.add("Access-Control-Allow-Origin", any_origin_ ? "*" : asked.origin);
  if (policy_.credentials) said.add("Access-Control-Allow-Credentials", "true");
  if (!said.is_preflight_) {
    said.add("Access-Control-Expose-Headers", exposed_headers_);
    return said;
  }
  said.add("Access-Control-Allow-Methods", methods_);
  said.add("Access-Control-Allow-Headers", request_headers_);
  said.add("Access-Control-Max-Age", max_age_);
  return said;
}

}  // namespace weft::http
