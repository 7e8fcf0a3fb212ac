// The steps of the request parser that few requests take, and all that refuse one. They get a copy
// of the cursor: see request_parser.cpp.
#include <algorithm>

#include <weft/http/framing_fields.hpp>
#include <weft/http/request_cursor.hpp>
#include <weft/http/target.hpp>

namespace weft::http {

using namespace detail;

bool request_parser::stop(cursor in, step at) noexcept {
  if (in.size >= in.limit)
    return fail(in.limit, at <= step::method    ? fault_kind::method_too_long
                          : at <= step::version ? fault_kind::request_line_too_long
                                                : fault_kind::head_too_long);
  facts_ = in.facts();
  header_count_ = static_cast<std::uint16_t>(in.header_count());
  step_ = at;
  position_ = narrow(in.at);
  name_begin_ = narrow(in.name);
  name_end_ = narrow(in.name_end);
  value_begin_ = narrow(in.value);
  return false;
}

bool request_parser::fail(std::size_t offset, fault_kind kind) noexcept {
  step_ = step::finished;
  fault_ = kind;
  position_ = narrow(offset);
  return false;
}

// Anything but a complete "HTTP/1.1": another version, a wrong one, or the first bytes of one.
bool request_parser::read_odd_version(cursor in) noexcept {
  constexpr std::string_view form = "HTTP/0.0\r\n";  // "0" stands for any digit
  const auto present = std::min(form.size(), in.end - in.at);
  for (std::size_t i = 0; i < present; ++i) {
    const char c = in.byte(i);
    if (form[i] == '0' ? (c >= '0' && c <= '9') : c == form[i]) continue;
    return fail(in.at + i, i < 8 ? fault_kind::bad_version : fault_kind::bad_request_line_end);
  }
  if (present < form.size()) return stop(in, step::version);
  if (in.byte(5) != '1') return fail(in.at, fault_kind::unsupported_version);
  in.facts().minor_version = in.byte(7) == '0' ? 0 : 1;
  return true;
}

bool request_parser::check_odd_line(cursor in) noexcept {
  head_facts& facts = in.facts();
  if (facts.has(unknown_method)) return fail(line_begin_, fault_kind::unknown_method);
  if (in.text[facts.target_begin] == '/' && facts.method != method::connect) return true;
  const std::uint32_t begin = facts.target_begin;
  const std::string_view target = in.view(begin, facts.target_end);
  const target_parts parts = split_target(facts.method, target);
  if (parts.fault != fault_kind::none) return fail(begin, parts.fault);
  // Asked of a whole URI without a path, OPTIONS means all of the server (RFC 9112 section 3.2.4).
  const bool is_server = facts.method == method::options && parts.path_begin == target.size();
  facts.form = is_server ? target_form::asterisk : parts.form;
  if (parts.path_needs_normalizing) facts.set(path_needs_normalizing);
  facts.path_begin = begin + parts.path_begin;
  if (parts.form == target_form::absolute && parts.path_end != target.size())
    facts.query_begin = begin + parts.path_end;
  if (parts.form == target_form::authority || facts.form == target_form::asterisk)
    facts.path_begin = facts.target_end;
  return true;
}

bool request_parser::fail_name(cursor in) noexcept {
  const char c = in.byte();
  const bool is_empty = in.at == in.name;
  fault_kind kind = fault_kind::bad_name;
  if (is_space(c) && !is_empty)
    kind = fault_kind::space_before_colon;
  else if (is_space(c))
    kind = in.header_count() == 0 ? fault_kind::space_before_name : fault_kind::folded_value;
  else if (c == ':')
    kind = fault_kind::empty_name;
  else if (c == '\n' && is_empty)
    kind = fault_kind::bare_lf;
  else if (c == '\r' || c == '\n')
    kind = fault_kind::missing_colon;
  return fail(in.at, kind);
}

// The value did not end in CR LF, or not yet.
bool request_parser::fail_value(cursor in) noexcept {
  if (in.at == in.end) return stop(in, step::value);
  if (in.byte() == '\n') return fail(in.at, fault_kind::bare_lf);
  if (in.byte() != '\r') return fail(in.at, fault_kind::bad_value);
  if (!in.has(2)) return stop(in, step::value);
  return fail(in.at, fault_kind::bare_cr);
}

bool request_parser::note_known(cursor in, std::string_view name, std::string_view value) noexcept {
  switch (name.size()) {
    case 4: return !is_host(name.data()) || note_host(in, value);
    case 6: return !equals_ignoring_case(name, "expect") || note_expect(in, value);
    case 10: return !is_connection(name.data()) || note_connection(in, value);
    case 14: return !is_content_length(name.data()) || note_content_length(in, value);
    default:
      return !equals_ignoring_case(name, "transfer-encoding") || note_transfer_encoding(in, value);
  }
}

bool request_parser::note_host(cursor in, std::string_view value) noexcept {
  if (in.facts().has(has_host)) return fail(in.name, fault_kind::repeated_host);
  in.facts().set(has_host);
  return is_host_and_port(value) || fail(in.value, fault_kind::bad_host);
}

bool request_parser::note_content_length(cursor in, std::string_view value) noexcept {
  if (in.facts().has(has_content_length)) return fail(in.name, fault_kind::repeated_content_length);
  in.facts().set(has_content_length);
  const auto length = parse_content_length(value);
  if (!length) return fail(in.value, fault_kind::bad_content_length);
  in.facts().content_length = *length;
  return true;
}

bool request_parser::note_transfer_encoding(cursor in, std::string_view value) noexcept {
  if (in.facts().has(has_transfer_encoding))
    return fail(in.name, fault_kind::repeated_transfer_encoding);
  in.facts().set(has_transfer_encoding);
  const fault_kind wrong = check_transfer_encoding(value);
  return wrong == fault_kind::none || fail(in.value, wrong);
}

bool request_parser::note_connection(cursor in, std::string_view value) noexcept {
  const auto options = parse_connection(value);
  if (!options) return fail(in.value, fault_kind::bad_connection);
  if (options->close) in.facts().set(says_close);
  if (options->keep_alive) in.facts().set(says_keep_alive);
  if (options->upgrade) in.facts().set(says_upgrade);
  return true;
}

// An HTTP/1.0 client cannot know what 100 means, so what it says here is passed over (RFC 9110
// section 10.1.1).
bool request_parser::note_expect(cursor in, std::string_view value) noexcept {
  if (in.facts().minor_version == 0) return true;
  in.facts().set(expects_continue);
  return expects_only_continue(value) || fail(in.value, fault_kind::unknown_expectation);
}

}  // namespace weft::http
