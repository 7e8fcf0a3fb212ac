// Reads one HTTP/1.1 request head, strictly (RFC 9112 sections 2 to 7).
//
// Problem: a head arrives in pieces, each request pays for its parsing, and every leniency is a way
// to smuggle a request past whoever stands in front. Contract: parse() is given all bytes received
// of this request so far, in one piece. Between calls the bytes must not change, but may move and
// grow. It remembers where it stopped, so that the total work is linear in the bytes however they
// trickle in, and its answer depends only on the bytes, never on how they were cut. Until it says
// `complete` it knows all it must know itself; `head` may then be another one the next time. It
// never allocates. At most one empty line before the request line is skipped (RFC 9112
// section 2.2). Where the RFC leaves a choice we take the strict one: lines end in CR LF only, no
// obs-fold, at most one Content-Length, no empty elements in Transfer-Encoding. Content codings,
// body limits and Upgrade are for the caller. Single thread; 64 bytes.
//
//   request_parser parser;
//   switch (parser.parse(received, head, bounds)) {
//     case parse_status::incomplete: /* read more; the limits bound how much */ break;
//     case parse_status::complete:   use_up(head.size_bytes()); parser.reset(); break;
//     case parse_status::failed:     answer(parser.fault()); /* and close */ break;
//   }
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/http/fault.hpp>
#include <weft/http/head_parser.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/parsed_head.hpp>

namespace weft::http {

class request_parser : public detail::head_parser {
 public:
  request_parser() noexcept = default;

  // `input` may reach beyond the head (a body, pipelined requests); `bounds` must be the same for
  // all calls. After `complete` or `failed` the next call must be reset(). Work: O(new bytes).
  [[nodiscard]] parse_status parse(std::string_view input, parsed_head& head,
                                   const limits& bounds) noexcept;

  // After parse() said `failed`.
  [[nodiscard]] protocol_fault fault() const noexcept { return describe(fault_, position_); }

  // Whether any byte of a request was seen since the last reset: tells an idle connection from a
  // slow head.
  [[nodiscard]] bool started() const noexcept { return position_ != 0; }

  // Ready for the next request, whose bytes begin at offset 0 again.
  void reset() noexcept { *this = request_parser{}; }

 private:
  friend class detail::head_parser;

  parse_status parse_rest(std::string_view input, parsed_head& head, const limits& bounds) noexcept;
  bool resume_request_line(cursor& in, const limits& bounds) noexcept;
  bool read_request_line(cursor& in, const limits& bounds) noexcept;
  bool read_before_line(cursor& in, const limits& bounds) noexcept;
  static bool read_usual_start(cursor& in) noexcept;
  bool read_method(cursor& in) noexcept;
  bool read_target(cursor& in) noexcept;
  bool read_path_and_query(cursor& in) noexcept;
  static bool end_target(cursor& in) noexcept;
  bool read_path(cursor& in) noexcept;
  bool read_query(cursor& in) noexcept;
  bool read_other_target(cursor& in) noexcept;
  bool read_version(cursor& in) noexcept;
  [[gnu::cold]] bool check_odd_line(cursor in) noexcept;
  static bool read_usual_line(cursor& in) noexcept;
  static bool read_usual_host(cursor& in) noexcept;
  bool note(const field_text& field, detail::head_facts& facts) noexcept;
  bool note_host(const field_text& field, detail::head_facts& facts) noexcept;
  bool note_expect(const field_text& field, detail::head_facts& facts) noexcept;
  bool finish(const cursor& in) noexcept;
  bool check_whole(cursor in) noexcept;
};

static_assert(sizeof(request_parser) <= 64);

}  // namespace weft::http
