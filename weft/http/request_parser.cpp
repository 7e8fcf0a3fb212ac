#include <weft/http/request_parser.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/head_steps.hpp>
#include <weft/http/scan.hpp>
#include <weft/http/target.hpp>

namespace weft::http {

using namespace detail;

parse_status request_parser::parse(std::string_view input, parsed_head& head,
                                   const limits& bounds) noexcept {
  WEFT_DEBUG_ASSERT(step_ != step::finished, "reset() the parser before the next request");
  WEFT_DEBUG_ASSERT(bounds.head_bytes < UINT32_MAX, "a head must be shorter than 4 GiB");
  WEFT_DEBUG_ASSERT(input.size() >= position_,
                    "give all bytes received of this request, not only the new ones");
  if (step_ != step::before_line) [[unlikely]]
    return parse_rest(input, head, bounds);
  cursor in{input, head, bounds};
  in.facts() = {};
  const bool done = read_request_line(in, bounds) && read_headers(in) && finish(in);
  return done ? parse_status::complete : outcome();
}

// What an earlier call has begun: first the rest of its line.
[[gnu::noinline]] parse_status request_parser::parse_rest(std::string_view input, parsed_head& head,
                                                          const limits& bounds) noexcept {
  cursor in{input, head, bounds};
  go_on(in);
  const bool resumed = step_ < step::line_start ? resume_request_line(in, bounds) : resume_line(in);
  if (!resumed || !read_headers(in) || !finish(in)) return outcome();
  if (header_count_ == 0) return parse_status::complete;
  // It is known to be whole and well-formed, but `head` has seen only its last fields.
  reset();
  return parse(input, head, bounds);
}

// --- All steps begin where `in.at` stands and return false when they have failed or want more
// input.
// --- The request line (RFC 9112 section 3).

WEFT_HOT bool request_parser::read_request_line(cursor& in, const limits& bounds) noexcept {
  // Less than it may have is no line that is too long.
  if (in.end >= bounds.request_line_bytes) in.set_limit(bounds.request_line_bytes);
  const bool done = read_usual_start(in)
                        ? read_path_and_query(in)
                        : read_before_line(in, bounds) && read_method(in) && read_target(in);
  if (!done || !read_version(in)) return false;
  in.set_limit(bounds.head_bytes);
  return true;
}

WEFT_HOT bool request_parser::resume_request_line(cursor& in, const limits& bounds) noexcept {
  in.set_limit(std::min(line_begin_ + bounds.request_line_bytes, bounds.head_bytes));
  bool done = true;
  switch (step_) {
    case step::method: done = read_method(in) && read_target(in); break;
    case step::target: done = read_target(in); break;
    case step::path: done = read_path(in); break;
    case step::query: done = read_query(in); break;
    case step::other_target: done = read_other_target(in); break;
    default: break;
  }
  if (!done || !read_version(in)) return false;
  in.set_limit(bounds.head_bytes);
  return true;
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

// "GET /" or "POST /".
WEFT_HOT bool request_parser::read_usual_start(cursor& in) noexcept {
  if (!in.has(6)) return false;
  const auto word = load<std::uint32_t>(in.text + in.at);
  if (word == load<std::uint32_t>("GET ") && in.byte(4) == '/') {
    in.at += 4;
  } else if (word == load<std::uint32_t>("POST") &&
             load<std::uint16_t>(in.text + in.at + 4) == load<std::uint16_t>(" /")) {
    in.facts().method = method::post;
    in.at += 5;
  } else {
    return false;
  }
  in.facts().target_begin = in.facts().path_begin = narrow(in.at);
  return true;
}

WEFT_HOT bool request_parser::read_method(cursor& in) noexcept {
  const std::size_t begin = line_begin_;
  in.at = scan::skip_scalar<scan::set::token>(in.text, in.at, in.end);
  if (in.at == in.end) return stop(in, step::method);
  if (in.byte() != ' ' || in.at == begin) return fail(in.at, fault_kind::bad_method);
  // Refused only at the end of the line: whether this is HTTP at all comes first.
  in.facts().set(odd_line);
  if (const auto known = parse_method(in.view(begin, in.at)))
    in.facts().method = *known;
  else
    in.facts().set(unknown_method);
  ++in.at;
  return true;
}

WEFT_HOT bool request_parser::read_target(cursor& in) noexcept {
  if (in.at == in.end) return stop(in, step::target);
  in.facts().target_begin = in.facts().path_begin = narrow(in.at);
  return in.byte() == '/' ? read_path_and_query(in) : read_other_target(in);
}

WEFT_HOT bool request_parser::read_path_and_query(cursor& in) noexcept {
  return in.finds<scan::set::path>(' ', in.at) ? end_target(in) : read_path(in);
}

WEFT_HOT bool request_parser::end_target(cursor& in) noexcept {
  in.facts().target_end = narrow(in.at);
  ++in.at;
  return true;
}

WEFT_HOT bool request_parser::read_path(cursor& in) noexcept {
  for (;;) {
    in.at = scan::skip<scan::set::path>(in.text, in.at, in.end);
    if (in.at == in.end) return stop(in, step::path);
    if (in.byte() == ' ') return end_target(in);
    if (in.byte() == '?') {
      in.facts().query_begin = narrow(in.at);
      ++in.at;
      return in.finds<scan::set::query>(' ', in.at) ? end_target(in) : read_query(in);
    }
    if (in.byte() == '.') {
      if (in.text[in.at - 1] == '/') in.facts().set(path_needs_normalizing);
      ++in.at;
      continue;
    }
    if (in.byte() != '%') {
      if (!scan::contains<scan::set::target>(in.byte())) return fail(in.at, fault_kind::bad_target);
      in.facts().set(path_needs_normalizing);
      ++in.at;
      continue;
    }
    if (!in.has(3)) return stop(in, step::path);
    if (!has_valid_escapes(in.view(in.at, in.at + 3)))
      return fail(in.at, fault_kind::bad_target_escape);
    if (is_forbidden_escape(in.text + in.at))
      return fail(in.at, fault_kind::forbidden_target_escape);
    in.facts().set(path_needs_normalizing);
    in.at += 3;
  }
}

WEFT_HOT bool request_parser::read_query(cursor& in) noexcept {
  for (;;) {
    in.at = scan::skip<scan::set::query>(in.text, in.at, in.end);
    if (in.at == in.end) return stop(in, step::query);
    if (in.byte() == ' ') return end_target(in);
    if (in.byte() != '%') return fail(in.at, fault_kind::bad_target);
    if (!in.has(3)) return stop(in, step::query);
    if (!has_valid_escapes(in.view(in.at, in.at + 3)))
      return fail(in.at, fault_kind::bad_target_escape);
    in.at += 3;
  }
}

// "*", an authority or a whole URI: first the bytes, then check_odd_line() once the line has ended.
WEFT_HOT bool request_parser::read_other_target(cursor& in) noexcept {
  in.facts().set(odd_line);
  in.at = scan::skip_scalar<scan::set::target>(in.text, in.at, in.end);
  if (in.at == in.end) return stop(in, step::other_target);
  in.facts().target_end = narrow(in.at);
  if (in.byte() != ' ' || in.facts().target_end == in.facts().target_begin)
    return fail(in.facts().target_end, fault_kind::bad_target);
  ++in.at;
  return true;
}

WEFT_HOT bool request_parser::read_version(cursor& in) noexcept {
  const bool is_usual = in.has(10) &&
                        load<std::uint64_t>(in.text + in.at) == load<std::uint64_t>("HTTP/1.1") &&
                        load<std::uint16_t>(in.text + in.at + 8) == load<std::uint16_t>("\r\n");
  if (!is_usual && !read_odd_version(in, step::version)) return false;
  if (in.facts().has(odd_line) && !check_odd_line(in)) return false;
  in.at += 10;
  return true;
}

// --- Header fields (RFC 9112 section 5, RFC 9110 section 5).

// The two fields that nearly every request has, in their usual form: a line read and judged in one
// go. With anything unusual about it, or not all of it here, nothing has happened and it goes the
// general way.
WEFT_HOT bool request_parser::read_usual_line(cursor& in) noexcept {
  const char* const line = in.text + in.at;
  const std::uint32_t begin = four_small(line);
  if (begin == load<std::uint32_t>("host")) return is_colon_space(line + 4) && read_usual_host(in);
  return begin == load<std::uint32_t>("cont") && read_length_line(in);
}

// A name and perhaps a port. Of the ports with five digits only those that the first digit tells to
// be below 65,536.
WEFT_HOT bool request_parser::read_usual_host(cursor& in) noexcept {
  const std::size_t value = in.at + 6;
  std::size_t at = value;
  if (!in.finds<scan::set::host>(':', at) && in.text[at] != '\r') {
    at = scan::skip<scan::set::host>(in.text, at, in.end);
    if (at == in.end) return false;
  }
  if (at == value) return false;
  if (in.text[at] == ':') {
    ++at;
    if (!in.has_at(at, 8)) return false;
    const std::size_t digits = scan::count_digits(in.text + at);
    if (digits > 4 && (digits > 5 || in.text[at] >= '6')) return false;
    at += digits;
  } else if (!in.has_at(at, 2)) {
    return false;
  }
  if (!in.has_line_end(at) || !in.has_room() || in.facts().has(has_host)) return false;
  in.add_header(in.at, in.at + 4, value, at);
  in.facts().set(has_host);
  in.at = at + 2;
  return true;
}

// --- The empty line: what only the whole head can tell (RFC 9112 sections 3.2 and 6.3).

WEFT_HOT bool request_parser::finish(const cursor& in) noexcept {
  in.end_headers();
  const bool is_usual =
      (in.facts().flags & (has_host | has_transfer_encoding | odd_line)) == std::uint16_t{has_host};
  if (!is_usual && !check_whole(in)) return false;
  step_ = step::finished;
  return true;
}

}  // namespace weft::http
