#include <weft/http/status.hpp>

#include <array>
#include <cstddef>

namespace weft::http {
namespace {

constexpr unsigned first_code = 100;
constexpr unsigned code_count = 500;

struct named_status {
  status code;
  std::string_view reason;
};

constexpr std::array named = {
    named_status{status::continue_, "Continue"},
    named_status{status::switching_protocols, "Switching Protocols"},
    named_status{status::early_hints, "Early Hints"},
    named_status{status::ok, "OK"},
    named_status{status::created, "Created"},
    named_status{status::accepted, "Accepted"},
    named_status{status::no_content, "No Content"},
    named_status{status::reset_content, "Reset Content"},
    named_status{status::partial_content, "Partial Content"},
    named_status{status::moved_permanently, "Moved Permanently"},
    named_status{status::found, "Found"},
    named_status{status::see_other, "See Other"},
    named_status{status::not_modified, "Not Modified"},
    named_status{status::temporary_redirect, "Temporary Redirect"},
    named_status{status::permanent_redirect, "Permanent Redirect"},
    named_status{status::bad_request, "Bad Request"},
    named_status{status::unauthorized, "Unauthorized"},
    named_status{status::forbidden, "Forbidden"},
    named_status{status::not_found, "Not Found"},
    named_status{status::method_not_allowed, "Method Not Allowed"},
    named_status{status::not_acceptable, "Not Acceptable"},
    named_status{status::proxy_authentication_required, "Proxy Authentication Required"},
    named_status{status::request_timeout, "Request Timeout"},
    named_status{status::conflict, "Conflict"},
    named_status{status::gone, "Gone"},
    named_status{status::length_required, "Length Required"},
    named_status{status::precondition_failed, "Precondition Failed"},
    named_status{status::content_too_large, "Content Too Large"},
    named_status{status::uri_too_long, "URI Too Long"},
    named_status{status::unsupported_media_type, "Unsupported Media Type"},
    named_status{status::range_not_satisfiable, "Range Not Satisfiable"},
    named_status{status::expectation_failed, "Expectation Failed"},
    named_status{status::misdirected_request, "Misdirected Request"},
    named_status{status::unprocessable_content, "Unprocessable Content"},
    named_status{status::too_early, "Too Early"},
    named_status{status::upgrade_required, "Upgrade Required"},
    named_status{status::precondition_required, "Precondition Required"},
    named_status{status::too_many_requests, "Too Many Requests"},
    named_status{status::request_header_fields_too_large, "Request Header Fields Too Large"},
    named_status{status::internal_server_error, "Internal Server Error"},
    named_status{status::not_implemented, "Not Implemented"},
    named_status{status::bad_gateway, "Bad Gateway"},
    named_status{status::service_unavailable, "Service Unavailable"},
    named_status{status::gateway_timeout, "Gateway Timeout"},
    named_status{status::http_version_not_supported, "HTTP Version Not Supported"},
    named_status{status::insufficient_storage, "Insufficient Storage"},
};

constexpr std::array<std::string_view, 5> class_reasons = {
    "Informational", "Success", "Redirection", "Client Error", "Server Error"};

constexpr std::string_view line_start = "HTTP/1.1 200 ";

// One line is stored per code in a fixed slot: finding it is one multiplication.
constexpr std::size_t line_capacity = 47;
struct line {
  std::uint8_t size = 0;
  std::array<char, line_capacity> text{};
};
static_assert(sizeof(line) == 48);

constexpr line make_line(unsigned code, std::string_view reason) {
  line made;
  std::size_t at = 0;
  for (char c : line_start) made.text[at++] = c;
  made.text[9] = static_cast<char>('0' + code / 100);
  made.text[10] = static_cast<char>('0' + code / 10 % 10);
  made.text[11] = static_cast<char>('0' + code % 10);
  for (char c : reason) made.text[at++] = c;
  made.text[at++] = '\r';
  made.text[at++] = '\n';
  made.size = static_cast<std::uint8_t>(at);
  return made;
}

constexpr std::array<line, code_count> make_lines() {
  std::array<line, code_count> lines{};
  for (unsigned i = 0; i < code_count; ++i)
    lines[i] = make_line(i + first_code, class_reasons[i / 100]);
  for (const named_status& each : named) {
    const auto code = static_cast<unsigned>(each.code);
    lines[code - first_code] = make_line(code, each.reason);
  }
  return lines;
}

constexpr std::array<line, code_count> lines = make_lines();

}  // namespace

std::string_view status_line(status code) noexcept {
  unsigned index = static_cast<unsigned>(code) - first_code;
  if (index >= code_count)
    index = static_cast<unsigned>(status::internal_server_error) - first_code;
  return {lines[index].text.data(), lines[index].size};
}

std::string_view reason_phrase(status code) noexcept {
  std::string_view line = status_line(code);
  line.remove_prefix(line_start.size());
  line.remove_suffix(2);
  return line;
}

}  // namespace weft::http
