#include <weft/http/client/response_parser.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/head_steps.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {

using namespace detail;

namespace {

// Empty elements of a list are ignored (RFC 9110 section 5.6.1.2).
std::string_view without_empty_ends(std::string_view list) noexcept {
  while (list.starts_with(',')) list = field_syntax::trim(list.substr(1));
  while (list.ends_with(',')) list = field_syntax::trim(list.substr(0, list.size() - 1));
  return list;
}

}  // namespace

parse_status response_parser::parse(std::string_view input, response_head& head,
                                    const limits& bounds) noexcept {
  WEFT_DEBUG_ASSERT(step_ != step::finished, "reset() the parser before the next response");
  WEFT_DEBUG_ASSERT(input.size() >= position_,
                    "give all bytes received of this response, not only the new ones");
  cursor in{input, head, bounds};
  in.facts() = {};
  if (step_ > step::status_line) {
    go_on(in);
    if (!resume_line(in)) return outcome();
  } else if (!read_status_line(in, position_, bounds)) {
    return outcome();
  }
  if (!read_headers(in) || !finish(in)) return outcome();
  if (header_count_ == 0) return parse_status::complete;
  // It is known to be whole and well-formed, but `head` has seen only its last fields.
  reset();
  return parse(input, head, bounds);
}

protocol_fault response_parser::fault() const noexcept {
  protocol_fault why = describe(fault_, position_);
  why.code = status::bad_gateway;
  return why;
}

bool response_parser::is_too_large() const noexcept {
  return fault_ == fault_kind::status_line_too_long || fault_ == fault_kind::head_too_long ||
         fault_ == fault_kind::too_many_headers;
}

// Of an earlier call, `scanned` bytes of the line are known to be good, if they are so many that
// they reach into the reason; the few before it are read again.
bool response_parser::read_status_line(cursor& in, std::size_t scanned,
                                       const limits& bounds) noexcept {
  in.set_limit(std::min(bounds.request_line_bytes, bounds.head_bytes));
  const bool is_usual = in.has(9) &&
                        load<std::uint64_t>(in.text) == load<std::uint64_t>("HTTP/1.1") &&
                        in.text[8] == ' ';
  if (!is_usual && !read_odd_version(in, step::status_line)) return false;
  in.at = 9;
  if (!read_status(in)) return false;
  in.at = std::max(in.at, scanned);
  if (!read_reason(in)) return false;
  in.set_limit(bounds.head_bytes);
  return true;
}

bool response_parser::read_status(cursor& in) noexcept {
  std::uint64_t status = 0;
  for (std::size_t i = 0; i < 4; ++i, ++in.at) {
    if (in.at == in.end) return stop(in, step::status_line);
    // Without a reason many servers leave out the space as well: read_reason() sees the line's end.
    if (i == 3 && in.byte() == '\r') break;
    const bool is_right =
        i == 3 ? in.byte() == ' ' : is_digit(in.byte()) && (i != 0 || in.byte() != '0');
    if (!is_right) return fail(in.at, fault_kind::bad_status);
    if (i != 3) status = status * 10 + digit_value(in.byte());
  }
  in.facts().status = static_cast<std::uint16_t>(status);
  return true;
}

bool response_parser::read_reason(cursor& in) noexcept {
  in.at = scan::skip<scan::set::field>(in.text, in.at, in.end);
  if (in.at == in.end) return stop(in, step::status_line);
  if (in.byte() == '\n') return fail(in.at, fault_kind::bare_lf);
  if (in.byte() != '\r') return fail(in.at, fault_kind::bad_reason);
  if (!in.has(2)) return stop(in, step::status_line);
  if (in.byte(1) != '\n') return fail(in.at, fault_kind::bare_cr);
  in.facts().reason_end = std::max(narrow(in.at), response_head::reason_begin);
  in.at += 2;
  return true;
}

bool response_parser::note(const field_text& field, head_facts& facts) noexcept {
  if (!equals_ignoring_case(field.name, "transfer-encoding")) return note_framing(field, facts);
  field_text codings = field;
  codings.value = without_empty_ends(field.value);
  return note_framing(codings, facts);
}

// What only the whole head can tell.
bool response_parser::finish(const cursor& in) noexcept {
  in.end_headers();
  const head_facts& facts = in.facts();
  if (facts.has(has_transfer_encoding)) {
    if (facts.minor_version == 0) return fail(in.at, fault_kind::chunked_in_http_1_0);
    if (facts.has(has_content_length)) return fail(in.at, fault_kind::length_and_chunked);
  }
  // Of 204 no such claim is believed: see response_head::keep_alive(). An interim response that
  // makes one leaves open where the next begins.
  const bool has_no_place = facts.status < 200;
  if (has_no_place && (facts.has(has_transfer_encoding) || facts.content_length != 0))
    return fail(in.at, fault_kind::content_without_place);
  step_ = step::finished;
  return true;
}

}  // namespace weft::http
