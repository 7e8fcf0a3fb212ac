#include <weft/http/request_parser.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/request_cursor.hpp>
#include <weft/http/scan.hpp>
#include <weft/http/target.hpp>

// The steps that every request takes are small functions for the reader, and one function for the
// processor: inlined, the cursor lives in registers, which halves the instructions per request.
// Rare steps get a copy of the cursor, so that its address never escapes.
#define WEFT_HOT [[gnu::always_inline]] inline

namespace weft::http {

using namespace detail;

parse_status request_parser::parse(std::string_view input, parsed_head& head,
                                   const limits& bounds) noexcept {
  WEFT_DEBUG_ASSERT(step_ != step::finished, "reset() the parser before the next request");
  WEFT_DEBUG_ASSERT(bounds.head_bytes < UINT32_MAX, "a head must be shorter than 4 GiB");
  WEFT_DEBUG_ASSERT(input.size() >= position_,
                    "give all bytes received of this request, not only the new ones");
  cursor in{.text = input.data(), .size = input.size(), .at = position_};
  head.headers_.base_ = input.data();
  if (step_ < step::line_start && !read_request_line(in, bounds)) return outcome();
  if (!read_headers(in, head.headers_, bounds) || !finish(in, head)) return outcome();
  if (!facts_.has(resumed)) [[likely]]
    return parse_status::complete;
  // The head came in pieces: it is known to be whole and well-formed, but `head` has seen only its
  // last fields.
  reset();
  return parse(input, head, bounds);
}

// --- All steps begin where `in.at` stands and return false when they have failed or want more
// input.
// --- The request line (RFC 9112 section 3).

WEFT_HOT bool request_parser::read_request_line(cursor& in, const limits& bounds) noexcept {
  in.set_limit(std::min(line_begin_ + bounds.request_line_bytes, bounds.head_bytes));
  bool done = true;
  switch (step_) {
    case step::before_line:
      if (!read_before_line(in, bounds)) return false;
      [[fallthrough]];
    case step::method:
      if (!read_method(in)) return false;
      [[fallthrough]];
    case step::target: done = read_target(in); break;
    case step::path: done = read_path(in); break;
    case step::query: done = read_query(in); break;
    case step::other_target: done = read_other_target(in); break;
    default: break;
  }
  return done && read_version(in);
}

WEFT_HOT bool request_parser::read_before_line(cursor& in, const limits& bounds) noexcept {
  if (in.at == in.end) return stop(in, step::before_line);
  if (in.byte() != '\r') return true;
  if (!in.has(2)) return stop(in, step::before_line);
  if (in.byte(1) != '\n') return fail(0, fault_kind::bare_cr);
  in.at += 2;
  line_begin_ = 2;
  in.set_limit(std::min(line_begin_ + bounds.request_line_bytes, bounds.head_bytes));
  return true;
}

WEFT_HOT bool request_parser::read_method(cursor& in) noexcept {
  const std::size_t begin = line_begin_;
  if (in.at == begin && in.has(5)) {
    const auto word = load<std::uint32_t>(in.text + in.at);
    if (word == load<std::uint32_t>("GET ")) {
      in.at += 4;
      return true;
    }
    if (word == load<std::uint32_t>("POST") && in.byte(4) == ' ') {
      facts_.method = method::post;
      in.at += 5;
      return true;
    }
  }
  in.at = scan::skip_scalar<scan::set::token>(in.text, in.at, in.end);
  if (in.at == in.end) return stop(in, step::method);
  if (in.byte() != ' ' || in.at == begin) return fail(in.at, fault_kind::bad_method);
  // Refused only at the end of the line: whether this is HTTP at all comes first.
  facts_.set(odd_line);
  if (const auto known = parse_method(in.view(begin, in.at)))
    facts_.method = *known;
  else
    facts_.set(unknown_method);
  ++in.at;
  return true;
}

WEFT_HOT bool request_parser::read_target(cursor& in) noexcept {
  if (in.at == in.end) return stop(in, step::target);
  facts_.target_begin = facts_.path_begin = narrow(in.at);
  return in.byte() == '/' ? read_path(in) : read_other_target(in);
}

WEFT_HOT bool request_parser::read_path(cursor& in) noexcept {
  for (;;) {
    in.at = scan::skip<scan::set::path>(in.text, in.at, in.end);
    if (in.at == in.end) return stop(in, step::path);
    if (in.byte() == ' ') [[likely]]
      break;
    if (in.byte() == '?') {
      facts_.query_begin = narrow(in.at);
      ++in.at;
      return read_query(in);
    }
    if (in.byte() == '.') {
      if (in.text[in.at - 1] == '/') facts_.set(path_needs_normalizing);
      ++in.at;
      continue;
    }
    if (in.byte() != '%') return fail(in.at, fault_kind::bad_target);
    if (!in.has(3)) return stop(in, step::path);
    if (!has_valid_escapes(in.view(in.at, in.at + 3)))
      return fail(in.at, fault_kind::bad_target_escape);
    if (is_forbidden_escape(in.text + in.at))
      return fail(in.at, fault_kind::forbidden_target_escape);
    facts_.set(path_needs_normalizing);
    in.at += 3;
  }
  facts_.target_end = narrow(in.at);
  ++in.at;
  return true;
}

WEFT_HOT bool request_parser::read_query(cursor& in) noexcept {
  for (;;) {
    in.at = scan::skip<scan::set::query>(in.text, in.at, in.end);
    if (in.at == in.end) return stop(in, step::query);
    if (in.byte() == ' ') break;
    if (in.byte() != '%') return fail(in.at, fault_kind::bad_target);
    if (!in.has(3)) return stop(in, step::query);
    if (!has_valid_escapes(in.view(in.at, in.at + 3)))
      return fail(in.at, fault_kind::bad_target_escape);
    in.at += 3;
  }
  facts_.target_end = narrow(in.at);
  ++in.at;
  return true;
}

// "*", an authority or a whole URI: first the bytes, then check_odd_line() once the line has ended.
WEFT_HOT bool request_parser::read_other_target(cursor& in) noexcept {
  facts_.set(odd_line);
  in.at = scan::skip_scalar<scan::set::uri>(in.text, in.at, in.end);
  if (in.at == in.end) return stop(in, step::other_target);
  facts_.target_end = narrow(in.at);
  if (in.byte() != ' ' || facts_.target_end == facts_.target_begin)
    return fail(facts_.target_end, fault_kind::bad_target);
  ++in.at;
  return true;
}

WEFT_HOT bool request_parser::read_version(cursor& in) noexcept {
  const bool is_usual = in.has(10) &&
                        load<std::uint64_t>(in.text + in.at) == load<std::uint64_t>("HTTP/1.1") &&
                        load<std::uint16_t>(in.text + in.at + 8) == load<std::uint16_t>("\r\n");
  if (!is_usual && !read_odd_version(in)) return false;
  if (facts_.has(odd_line) && !check_odd_line(in)) return false;
  in.at += 10;
  return true;
}

// --- Header fields (RFC 9112 section 5, RFC 9110 section 5).

WEFT_HOT bool request_parser::read_headers(cursor& in, header_list& headers,
                                           const limits& bounds) noexcept {
  in.set_limit(bounds.head_bytes);
  if (step_ > step::line_start) {
    in.at = resume_line(in, headers, bounds);
    if (in.at == 0) return false;
  }
  for (;;) {
    if (in.at == in.end) return stop(in, step::line_start);
    if (in.byte() == '\r') return read_empty_line(in);
    if (read_usual_line(in, headers, bounds)) continue;
    in.name = in.at;
    if (!read_name(in) || !read_before_value(in) || !read_value(in, headers, bounds)) return false;
  }
}

// The rest of a line of which an earlier call has seen the beginning: where the next one begins, or
// 0.
[[gnu::cold, gnu::noinline]] std::size_t request_parser::resume_line(
    cursor in, header_list& headers, const limits& bounds) noexcept {
  in.name = name_begin_;
  in.name_end = name_end_;
  in.value = value_begin_;
  bool done = true;
  if (step_ == step::name) done = read_name(in);
  if (done && step_ <= step::before_value) done = read_before_value(in);
  return done && read_value(in, headers, bounds) ? in.at : 0;
}

WEFT_HOT bool request_parser::read_empty_line(cursor& in) noexcept {
  if (!in.has(2)) return stop(in, step::line_start);
  if (in.byte(1) != '\n') return fail(in.at, fault_kind::bare_cr);
  in.at += 2;
  return true;
}

WEFT_HOT bool request_parser::read_name(cursor& in) noexcept {
  in.at = scan::skip<scan::set::token>(in.text, in.at, in.end);
  if (in.at == in.end) return stop(in, step::name);
  if (in.byte() != ':' || in.at == in.name) return fail_name(in);
  in.name_end = in.at++;
  return true;
}

WEFT_HOT bool request_parser::read_before_value(cursor& in) noexcept {
  if (in.has(2) && in.byte() == ' ' && !is_below_graphic(in.byte(1))) [[likely]] {
    ++in.at;
  } else {
    while (in.at != in.end && is_space(in.byte())) ++in.at;
    if (in.at == in.end) return stop(in, step::before_value);
  }
  in.value = in.at;
  return true;
}

WEFT_HOT bool request_parser::read_value(cursor& in, header_list& headers,
                                         const limits& bounds) noexcept {
  in.at = scan::skip<scan::set::field>(in.text, in.at, in.end);
  if (!in.is_line_end(in.at)) return fail_value(in);
  if (!has_room(bounds)) return fail(in.name, fault_kind::too_many_headers);
  std::size_t value_end = in.at;
  while (value_end != in.value && is_below_graphic(in.text[value_end - 1])) --value_end;
  headers.entries_[facts_.header_count++] = {narrow(in.name), narrow(in.name_end), narrow(in.value),
                                             narrow(value_end)};
  in.at += 2;
  return note(in, in.view(in.value, value_end));
}

// The two fields that nearly every request has, in their usual form: a line read and judged in one
// go. With anything unusual about it, or not all of it here, nothing has happened and it goes the
// general way.
WEFT_HOT bool request_parser::read_usual_line(cursor& in, header_list& headers,
                                              const limits& bounds) noexcept {
  if (!in.has(16) || !has_room(bounds)) return false;
  const char* const name = in.text + in.at;
  if (is_host(name) && is_colon_space(name + 4)) {
    const std::size_t value = in.at + 6;
    const std::size_t end = usual_host_end(in, value);
    if (end == 0 || facts_.has(has_host)) return false;
    headers.entries_[facts_.header_count++] = {narrow(in.at), narrow(in.at + 4), narrow(value),
                                               narrow(end)};
    facts_.set(has_host);
    in.at = end + 2;
    return true;
  }
  if (is_content_length(name) && is_colon_space(name + 14)) {
    const std::size_t value = in.at + 16;
    std::uint64_t length = 0;
    const std::size_t end = usual_length_end(in, value, length);
    if (end == 0 || facts_.has(has_content_length)) return false;
    headers.entries_[facts_.header_count++] = {narrow(in.at), narrow(in.at + 14), narrow(value),
                                               narrow(end)};
    facts_.set(has_content_length);
    facts_.content_length = length;
    in.at = end + 2;
    return true;
  }
  return false;
}

// The end of a name and a port at `at`, if the line ends there; else 0. Of the ports with five
// digits only those that the first digit tells to be below 65,536.
WEFT_HOT std::size_t request_parser::usual_host_end(const cursor& in, std::size_t at) noexcept {
  const std::size_t begin = at;
  at = scan::skip<scan::set::host>(in.text, at, in.end);
  if (at == begin || at == in.end) return 0;
  if (in.text[at] == ':') {
    ++at;
    if (!in.has_at(at, 8)) return 0;
    const std::size_t digits = count_digits(in.text + at);
    if (digits > (in.text[at] < '6' ? 5 : 4)) return 0;
    at += digits;
  }
  return in.is_line_end(at) ? at : 0;
}

// The end of up to 18 digits, which cannot overflow, if the line ends there; else 0.
WEFT_HOT std::size_t request_parser::usual_length_end(const cursor& in, std::size_t at,
                                                      std::uint64_t& length) noexcept {
  const std::size_t begin = at;
  const std::size_t most = std::min(at + 18, in.end);
  for (; at < most && is_digit(in.text[at]); ++at)
    length = length * 10 + static_cast<unsigned char>(in.text[at] - '0');
  return at != begin && in.is_line_end(at) ? at : 0;
}

// --- The fields that decide about the message.

WEFT_HOT bool request_parser::note(const cursor& in, std::string_view value) noexcept {
  // The first letter of the one name of each size that matters.
  static constexpr char first_letters[] = "\0\0\0\0h\0e\0\0\0c\0\0\0c\0\0t";
  const std::size_t size = in.name_end - in.name;
  if (size > 17 || (in.text[in.name] | 0x20) != first_letters[size]) [[likely]]
    return true;
  return note_known(in, in.view(in.name, in.name_end), value);
}

// --- The empty line: what only the whole head can tell (RFC 9112 sections 3.2 and 6.3).

WEFT_HOT bool request_parser::finish(const cursor& in, parsed_head& head) noexcept {
  const std::uint32_t size = narrow(in.at);
  if (!facts_.has(has_host) && facts_.minor_version != 0)
    return fail(size, fault_kind::missing_host);
  if (facts_.has(has_transfer_encoding)) {
    if (facts_.minor_version == 0) return fail(size, fault_kind::chunked_in_http_1_0);
    if (facts_.has(has_content_length)) return fail(size, fault_kind::length_and_chunked);
  }
  facts_.size = size;
  head.facts_ = facts_;
  head.headers_.size_ = facts_.header_count;
  // Who names the host in the target must repeat it in Host (RFC 9112 section 3.2); where the two
  // differ, somebody before us may have routed by the other one.
  if (facts_.form != target_form::origin && !facts_.has(resumed)) {
    const auto host = head.headers_.find("host");
    const std::string_view authority = split_target(facts_.method, head.target()).authority;
    if (host && !authority.empty() && !equals_ignoring_case(*host, authority))
      return fail(size, fault_kind::host_not_target);
  }
  step_ = step::finished;
  return true;
}

}  // namespace weft::http
