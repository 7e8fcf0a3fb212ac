// Status codes (RFC 9110 section 15, RFC 6585, RFC 8470).
//
// Contract: a status is its number. Any number from 100 to 599 may be cast to it; those without a
// name here have the reason phrase of their class. The texts are static and never allocate.
//
//   status_line(status::ok)         "HTTP/1.1 200 OK\r\n"
//   reason_phrase(status::ok)       "OK"
//   static_cast<status>(418)        "HTTP/1.1 418 Client Error\r\n"
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::http {

enum class status : std::uint16_t {
  continue_ = 100,
  switching_protocols = 101,
  early_hints = 103,
  ok = 200,
  created = 201,
  accepted = 202,
  no_content = 204,
  reset_content = 205,
  partial_content = 206,
  moved_permanently = 301,
  found = 302,
  see_other = 303,
  not_modified = 304,
  temporary_redirect = 307,
  permanent_redirect = 308,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  not_acceptable = 406,
  proxy_authentication_required = 407,
  request_timeout = 408,
  conflict = 409,
  gone = 410,
  length_required = 411,
  precondition_failed = 412,
  content_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  misdirected_request = 421,
  unprocessable_content = 422,
  too_early = 425,
  upgrade_required = 426,
  precondition_required = 428,
  too_many_requests = 429,
  request_header_fields_too_large = 431,
  internal_server_error = 500,
  not_implemented = 501,
  bad_gateway = 502,
  service_unavailable = 503,
  gateway_timeout = 504,
  http_version_not_supported = 505,
  insufficient_storage = 507,
};

// A number outside 100 to 599 reads as 500, so that a handler's arithmetic cannot put a broken line
// on the wire.
[[nodiscard]] std::string_view reason_phrase(status code) noexcept;
[[nodiscard]] std::string_view status_line(status code) noexcept;

// Whether the reply ends with its head whatever was asked (RFC 9112 section 6.3): 1xx, 204 and 304.
[[nodiscard]] constexpr bool is_bodiless(status code) noexcept {
  return code == status::no_content || code == status::not_modified ||
         static_cast<std::uint16_t>(code) < 200;
}

}  // namespace weft::http
