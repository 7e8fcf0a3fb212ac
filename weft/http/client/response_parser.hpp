// Reads one HTTP/1.1 response head, strictly (RFC 9112 sections 2 and 4 to 7).
//
// Problem: a client that reads a response otherwise than the proxy in front of the server gives one
// user another's answer. Contract: as request_parser's: parse() is given all bytes received of this
// response so far, in one piece, which may move and grow between calls; the work is linear in the
// bytes however they trickle in; the answer depends only on the bytes, never on how they were cut.
// It never allocates. The bounds are limits::request_line_bytes, here of the status line,
// head_bytes and headers. Single thread; 64 bytes.
//
// Lines end in CR LF only. A status line without a reason may lack the space before it, too. A 204
// that announces content has none, and its connection is not used again. Refused, although section
// 5.2 has user agents read them: values folded over lines, since whoever stands between may see two
// fields there. Refused as well: more than one Content-Length or Transfer-Encoding, both at once,
// any coding but chunked, which is all that we ask for (`chunked,` is that), and 1xx that announces
// content (RFC 9110 section 8.6, RFC 9112 section 6.1).
//
//   response_parser parser;
//   switch (parser.parse(received, head, bounds)) {
//     case parse_status::incomplete: /* read more; the limits bound how much */ break;
//     case parse_status::complete:   use_up(head.size_bytes()); parser.reset(); break;
//     case parse_status::failed:     tell(parser.fault()); /* and close */ break;
//   }
#pragma once

#include <string_view>

#include <weft/http/client/response_head.hpp>
#include <weft/http/fault.hpp>
#include <weft/http/head_parser.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {

class response_parser : public detail::head_parser {
 public:
  response_parser() noexcept = default;

  // `input` may reach beyond the head; `bounds` must be the same for all calls. After `complete` or
  // `failed` the next call must be reset().
  [[nodiscard]] parse_status parse(std::string_view input, response_head& head,
                                   const limits& bounds) noexcept;

  // After parse() said `failed`. Its status is 502: what a gateway answers then.
  [[nodiscard]] protocol_fault fault() const noexcept;
  // Whether that was a bound, and not what the bytes are.
  [[nodiscard]] bool is_too_large() const noexcept;

  // Ready for the next response, whose bytes begin at offset 0 again.
  void reset() noexcept { *this = response_parser{}; }

 private:
  friend class detail::head_parser;

  bool read_status_line(cursor& in, std::size_t scanned, const limits& bounds) noexcept;
  bool read_status(cursor& in) noexcept;
  bool read_reason(cursor& in) noexcept;
  static bool read_usual_line(cursor& in) noexcept { return read_length_line(in); }
  bool note(const field_text& field, detail::head_facts& facts) noexcept;
  bool finish(const cursor& in) noexcept;
};

static_assert(sizeof(response_parser) <= 64);

}  // namespace weft::http
