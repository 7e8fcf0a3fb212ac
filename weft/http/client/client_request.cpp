#include <weft/http/client/client_request.hpp>

#include <algorithm>
#include <array>

#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

bool is_of_the_client(std::string_view name) noexcept {
  // Proxy-Authorization comes from client_options::proxy: a server must not see it.
  static constexpr std::array<std::string_view, 13> names = {"Host",
                                                             "Content-Length",
                                                             "Transfer-Encoding",
                                                             "Connection",
                                                             "Expect",
                                                             "Upgrade",
                                                             "TE",
                                                             "Trailer",
                                                             "Keep-Alive",
                                                             "Proxy-Connection",
                                                             "Proxy-Authorization",
                                                             "traceparent",
                                                             "tracestate"};
  return std::ranges::any_of(
      names, [name](std::string_view each) { return equals_ignoring_case(name, each); });
}

/// Whether a server would ask for the length of a body that is not there (RFC 9110 section 8.6).
bool expects_body(method how) noexcept {
  return how == method::post || how == method::put || how == method::patch;
}

}  // namespace

void client_request::add(std::string_view name, std::string_view value) {
  const bool is_good = field_syntax::is_token(name) && !is_of_the_client(name) &&
                       field_syntax::trim(value) == value &&
                       scan::consists_of<scan::set::field>(value);
  says_codings_ = says_codings_ || equals_ignoring_case(name, "Accept-Encoding");
  if (is_good)
    fields_.append(name).append(": ").append(value).append("\r\n");
  else if (bad_name_.empty())
    bad_name_ = name.empty() ? "(an empty name)" : name;
}

outgoing_request client_request::view() const noexcept {
  return {.how = how_,
          .url = url_,
          .fields = fields_,
          .body = content_,
          .has_body = has_body_ || expects_body(how_),
          .bad_field = bad_name_,
          .says_codings = says_codings_};
}

}  // namespace weft::http
