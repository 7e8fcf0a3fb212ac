// What reading a request's head and a response's have in common: the lines of header fields (RFC
// 9112 section 5), what those mean that frame the message (sections 6 and 9), and how to go on
// after an interruption.
//
// Contract: the base of request_parser and response_parser, which read the first line and judge the
// whole; their headers say what they promise. Private to weft/http's sources, but for what the two
// show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/fault.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/message_head.hpp>

namespace weft::http {

enum class parse_status : std::uint8_t { incomplete, complete, failed };

namespace detail {

class head_parser {
 protected:
  // The step that needs more input, in the order of the bytes.
  enum class step : std::uint8_t {
    before_line,
    // of a request
    method,
    target,
    path,
    query,
    other_target,
    version,
    // of a response
    status_line,
    // of both
    line_start,
    name,
    before_value,
    value,
    finished
  };
  struct cursor;
  struct field_text {
    std::size_t name_at;
    std::size_t value_at;
    std::string_view name;
    std::string_view value;
  };

  head_parser() noexcept = default;

  // Where an earlier call has stopped.
  void go_on(cursor& in) const noexcept;
  // The lines of fields up to the empty one. `Self` has read_usual_line(), for those that it reads
  // in one go, and note(), for what its fields mean.
  template <class Self>
  bool read_headers(this Self& self, cursor& in) noexcept;
  template <class Self>
  bool resume_line(this Self& self, cursor& in) noexcept;
  bool read_empty_line(cursor& in) noexcept;
  static bool read_length_line(cursor& in) noexcept;
  bool read_name(cursor& in) noexcept;
  bool read_before_value(cursor& in) noexcept;
  bool read_value(cursor& in) noexcept;
  // Whether the field that was read last could mean something.
  static bool may_matter(const cursor& in) noexcept;
  static field_text last_field(const char* text, const header_list::entry& at) noexcept;

  // The version in the first line of a message, which is a request's (step::version) or a
  // response's (step::status_line).
  [[gnu::cold]] bool read_odd_version(cursor in, step of) noexcept;
  // The fields that frame any message.
  bool note_framing(const field_text& field, head_facts& facts) noexcept;

  [[nodiscard]] parse_status outcome() const noexcept {
    return fault_ == fault_kind::none ? parse_status::incomplete : parse_status::failed;
  }
  [[gnu::cold]] bool stop(cursor in, step at) noexcept;
  [[gnu::cold]] bool fail(std::size_t offset, fault_kind kind) noexcept;

  // All positions count from the start of the input, since the bytes may move between calls. From
  // the first stop() on these are what was known when the last call ended; before it they mean
  // nothing.
  head_facts facts_;
  std::uint32_t name_begin_ = 0;
  std::uint32_t name_end_ = 0;
  std::uint32_t value_begin_ = 0;
  std::uint32_t position_ = 0;      // where to go on; with `failed`, the offending byte
  std::uint16_t header_count_ = 0;  // of earlier calls, whose head is not this one
  std::uint8_t line_begin_ = 0;     // of the first line: 0, or 2 after an empty line
  step step_ = step::before_line;
  fault_kind fault_ = fault_kind::none;

 private:
  bool note_content_length(const field_text& field, head_facts& facts) noexcept;
  bool note_transfer_encoding(const field_text& field, head_facts& facts) noexcept;
  bool note_connection(const field_text& field, head_facts& facts) noexcept;
  [[gnu::cold]] bool fail_name(cursor in) noexcept;
  [[gnu::cold]] bool fail_value(cursor in) noexcept;
};

}  // namespace detail

}  // namespace weft::http
