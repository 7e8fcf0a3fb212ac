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

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/fault.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/method.hpp>
#include <weft/http/parsed_head.hpp>

namespace weft::http {

enum class parse_status : std::uint8_t { incomplete, complete, failed };

class request_parser {
 public:
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
  // The step that needs more input, in the order of the bytes.
  enum class step : std::uint8_t {
    before_line,
    method,
    target,
    path,
    query,
    other_target,
    version,
    line_start,
    name,
    before_value,
    value,
    finished
  };
  struct cursor;
  struct field_text;

  parse_status parse_rest(std::string_view input, parsed_head& head, const limits& bounds) noexcept;
  bool resume_request_line(cursor& in, const limits& bounds) noexcept;
  bool resume_line(cursor& in) noexcept;
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
  [[gnu::cold]] bool read_odd_version(cursor in) noexcept;
  [[gnu::cold]] bool check_odd_line(cursor in) noexcept;
  bool read_headers(cursor& in) noexcept;
  bool read_empty_line(cursor& in) noexcept;
  bool read_name(cursor& in) noexcept;
  bool read_before_value(cursor& in) noexcept;
  bool read_value(cursor& in) noexcept;
  static bool read_usual_line(cursor& in) noexcept;
  static bool read_usual_host(cursor& in) noexcept;
  static bool read_usual_length(cursor& in) noexcept;
  static bool may_matter(const cursor& in) noexcept;
  bool note(const char* text, const header_list::entry& field, detail::head_facts& facts) noexcept;
  bool note_host(const field_text& field, detail::head_facts& facts) noexcept;
  bool note_content_length(const field_text& field, detail::head_facts& facts) noexcept;
  bool note_transfer_encoding(const field_text& field, detail::head_facts& facts) noexcept;
  bool note_connection(const field_text& field, detail::head_facts& facts) noexcept;
  bool note_expect(const field_text& field, detail::head_facts& facts) noexcept;
  bool finish(const cursor& in) noexcept;
  bool check_whole(cursor in) noexcept;

  [[nodiscard]] parse_status outcome() const noexcept {
    return fault_ == fault_kind::none ? parse_status::incomplete : parse_status::failed;
  }
  [[gnu::cold]] bool stop(cursor in, step at) noexcept;
  [[gnu::cold]] bool fail(std::size_t offset, fault_kind kind) noexcept;
  [[gnu::cold]] bool fail_name(cursor in) noexcept;
  [[gnu::cold]] bool fail_value(cursor in) noexcept;

  // All positions count from the start of the input, since the bytes may move between calls. From
  // step::method on these are what was known when the last call ended; before it they mean nothing.
  detail::head_facts facts_;
  std::uint32_t name_begin_ = 0;
  std::uint32_t name_end_ = 0;
  std::uint32_t value_begin_ = 0;
  std::uint32_t position_ = 0;      // where to go on; with `failed`, the offending byte
  std::uint16_t header_count_ = 0;  // of earlier calls, whose parsed_head is not this one
  std::uint8_t line_begin_ = 0;     // of the request line: 0, or 2 after an empty line
  step step_ = step::before_line;
  fault_kind fault_ = fault_kind::none;
};

static_assert(sizeof(request_parser) <= 64);

}  // namespace weft::http
