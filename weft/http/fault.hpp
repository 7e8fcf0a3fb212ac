// Why bytes from a peer are not HTTP, or more of it than we take.
//
// Contract: a fault_kind is a byte, so that parsers can keep it in their state; describe() gives
// the status to answer with and a constant English reason that tells a client's author what to
// mend. After any of them the connection must be closed: where the next request begins is no longer
// certain (RFC 9112 section 9.6 says how to close).
//
//   protocol_fault why = parser.fault();
//   reply(response::problem(why.code, why.reason));  // 400, "space before the colon of a header"
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/http/status.hpp>

namespace weft::http {

struct protocol_fault {
  status code;
  std::string_view reason;  // static storage
  std::uint64_t
      offset_bytes;  // of the offending byte from the start of the head or of the chunked body
};

enum class fault_kind : std::uint8_t {
  none,
  // the request line
  bad_method,
  method_too_long,
  unknown_method,
  bad_target,
  bad_target_escape,
  forbidden_target_escape,
  target_not_for_method,
  bad_authority,
  request_line_too_long,
  bad_version,
  unsupported_version,
  bad_request_line_end,
  // the status line
  bad_status,
  bad_reason,
  status_line_too_long,
  // header fields
  space_before_name,
  folded_value,
  empty_name,
  bad_name,
  space_before_colon,
  missing_colon,
  bad_value,
  bare_cr,
  bare_lf,
  head_too_long,
  too_many_headers,
  // what they mean
  missing_host,
  repeated_host,
  bad_host,
  host_not_target,
  repeated_content_length,
  bad_content_length,
  repeated_transfer_encoding,
  bad_transfer_encoding,
  not_finally_chunked,
  unknown_transfer_coding,
  chunked_in_http_1_0,
  length_and_chunked,
  bad_connection,
  unknown_expectation,
  content_without_place,
  // the chunked body
  bad_chunk_size,
  chunk_size_overflow,
  bad_chunk_extension,
  chunk_extension_too_long,
  bad_chunk_line_end,
  bad_chunk_end,
  bad_trailer,
  trailer_too_long,
  body_too_large,
};

[[nodiscard]] protocol_fault describe(fault_kind kind, std::uint64_t offset_bytes) noexcept;

}  // namespace weft::http
