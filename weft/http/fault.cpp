#include <weft/http/fault.hpp>

#include <array>
#include <cstddef>

namespace weft::http {
namespace {

struct description {
  fault_kind kind;
  status code;
  std::string_view reason;
};

consteval auto describe_all() {
  using enum fault_kind;
  constexpr status bad = status::bad_request;
  constexpr status too_large = status::request_header_fields_too_large;
  return std::array{
      description{none, status::internal_server_error, "no fault"},
      description{bad_method, bad, "the method is not a token followed by one space"},
      description{method_too_long, status::not_implemented,
                  "the method is longer than any known one"},
      description{unknown_method, status::not_implemented, "the method is unknown here"},
      description{bad_target, bad, "a byte that may not stand in a request target"},
      description{bad_target_escape, bad, "a percent sign without two hexadecimal digits"},
      description{forbidden_target_escape, bad, "an encoded NUL, CR or LF in the path"},
      description{target_not_for_method, bad, "this form of target does not go with the method"},
      description{bad_authority, bad,
                  "a malformed host or port, or user information, in the target"},
      description{request_line_too_long, status::uri_too_long, "the request line is too long"},
      description{bad_version, bad, "the version is not HTTP/ digit . digit"},
      description{unsupported_version, status::http_version_not_supported,
                  "only HTTP/1.1 and HTTP/1.0"},
      description{bad_request_line_end, bad, "the request line does not end in CR LF"},
      description{bad_status, bad,
                  "the version is not followed by a space, a status of three digits and a space"},
      description{bad_reason, bad, "a control character in the reason phrase"},
      description{status_line_too_long, bad, "the status line is too long"},
      description{space_before_name, bad, "white space before the first header"},
      description{folded_value, bad, "a header value folded over lines"},
      description{empty_name, bad, "a header without a name"},
      description{bad_name, bad, "a byte that may not stand in a header name"},
      description{space_before_colon, bad, "white space between a header's name and its colon"},
      description{missing_colon, bad, "a header line without a colon"},
      description{bad_value, bad, "a control character in a header value"},
      description{bare_cr, bad, "a CR that no LF follows"},
      description{bare_lf, bad, "a line that ends in LF without CR"},
      description{head_too_long, too_large, "the head is too long"},
      description{too_many_headers, too_large, "too many headers"},
      description{missing_host, bad, "HTTP/1.1 without a Host header"},
      description{repeated_host, bad, "more than one Host header"},
      description{bad_host, bad, "the Host header is not a host with an optional port"},
      description{host_not_target, bad, "the Host header and the target name different hosts"},
      description{repeated_content_length, bad, "more than one Content-Length header"},
      description{bad_content_length, bad, "the Content-Length is not a decimal number in range"},
      description{repeated_transfer_encoding, bad, "more than one Transfer-Encoding header"},
      description{bad_transfer_encoding, bad, "the Transfer-Encoding is not a list of codings"},
      description{not_finally_chunked, bad, "the last transfer coding must be chunked"},
      description{unknown_transfer_coding, status::not_implemented,
                  "chunked is the only coding known"},
      description{chunked_in_http_1_0, bad, "Transfer-Encoding in HTTP/1.0"},
      description{length_and_chunked, bad, "both Content-Length and Transfer-Encoding"},
      description{bad_connection, bad, "the Connection header is not a list of tokens"},
      description{unknown_expectation, status::expectation_failed,
                  "100-continue is the only expectation known"},
      description{content_without_place, bad, "a status that has no content (1xx) announces some"},
      description{bad_chunk_size, bad, "a chunk size is not a hexadecimal number"},
      description{chunk_size_overflow, bad, "a chunk size has more than 16 digits"},
      description{bad_chunk_extension, bad, "a malformed chunk extension"},
      description{chunk_extension_too_long, bad, "a chunk's extensions are too long"},
      description{bad_chunk_line_end, bad, "a chunk's size line does not end in CR LF"},
      description{bad_chunk_end, bad, "no CR LF after a chunk's data"},
      description{bad_trailer, bad, "a malformed trailer field"},
      description{trailer_too_long, too_large, "the trailer is too long"},
      description{body_too_large, status::content_too_large, "the body is too large"},
  };
}

constexpr auto descriptions = describe_all();

constexpr bool in_order() {
  for (std::size_t i = 0; i < descriptions.size(); ++i)
    if (descriptions[i].kind != static_cast<fault_kind>(i)) return false;
  return descriptions.size() == static_cast<std::size_t>(fault_kind::body_too_large) + 1;
}
static_assert(in_order());

}  // namespace

protocol_fault describe(fault_kind kind, std::uint64_t offset_bytes) noexcept {
  const description& found = descriptions[static_cast<std::size_t>(kind)];
  return {found.code, found.reason, offset_bytes};
}

}  // namespace weft::http
