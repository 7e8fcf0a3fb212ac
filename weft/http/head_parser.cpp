// The steps of head_parser that few heads take, and all that refuse one. They get a copy of the
// cursor: see head_steps.hpp.
#include <weft/http/head_parser.hpp>

#include <algorithm>

#include <weft/http/framing_fields.hpp>
#include <weft/http/head_steps.hpp>

namespace weft::http::detail {

bool head_parser::stop(cursor in, step at) noexcept {
  if (in.size >= in.limit)
    return fail(in.limit, at <= step::method        ? fault_kind::method_too_long
                          : at <= step::version     ? fault_kind::request_line_too_long
                          : at == step::status_line ? fault_kind::status_line_too_long
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

bool head_parser::fail(std::size_t offset, fault_kind kind) noexcept {
  step_ = step::finished;
  fault_ = kind;
  position_ = narrow(offset);
  return false;
}

// Anything but a complete "HTTP/1.1": another version, a wrong one, or the first bytes of one.
bool head_parser::read_odd_version(cursor in, step of) noexcept {
  const bool is_request = of == step::version;
  const std::string_view form = is_request ? "HTTP/0.0\r\n" : "HTTP/0.0 ";  // "0": any digit
  const auto present = std::min(form.size(), in.end - in.at);
  for (std::size_t i = 0; i < present; ++i) {
    const char c = in.byte(i);
    if (form[i] == '0' ? is_digit(c) : c == form[i]) continue;
    return fail(in.at + i, i < 8        ? fault_kind::bad_version
                           : is_request ? fault_kind::bad_request_line_end
                                        : fault_kind::bad_status);
  }
  if (present < form.size()) return stop(in, of);
  if (in.byte(5) != '1') return fail(in.at, fault_kind::unsupported_version);
  in.facts().minor_version = in.byte(7) == '0' ? 0 : 1;
  return true;
}

bool head_parser::fail_name(cursor in) noexcept {
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
bool head_parser::fail_value(cursor in) noexcept {
  if (in.at == in.end) return stop(in, step::value);
  if (in.byte() == '\n') return fail(in.at, fault_kind::bare_lf);
  if (in.byte() != '\r') return fail(in.at, fault_kind::bad_value);
  if (!in.has(2)) return stop(in, step::value);
  return fail(in.at, fault_kind::bare_cr);
}

bool head_parser::note_framing(const field_text& field, head_facts& facts) noexcept {
  switch (field.name.size()) {
    case 10: return !is_connection(field.name.data()) || note_connection(field, facts);
    case 14: return !is_content_length(field.name.data()) || note_content_length(field, facts);
    default:
      return !equals_ignoring_case(field.name, "transfer-encoding") ||
             note_transfer_encoding(field, facts);
  }
}

bool head_parser::note_content_length(const field_text& field, head_facts& facts) noexcept {
  if (facts.has(has_content_length))
    return fail(field.name_at, fault_kind::repeated_content_length);
  facts.set(has_content_length);
  const auto length = parse_content_length(field.value);
  if (!length) return fail(field.value_at, fault_kind::bad_content_length);
  facts.content_length = *length;
  return true;
}

bool head_parser::note_transfer_encoding(const field_text& field, head_facts& facts) noexcept {
  if (facts.has(has_transfer_encoding))
    return fail(field.name_at, fault_kind::repeated_transfer_encoding);
  facts.set(has_transfer_encoding);
  const fault_kind wrong = check_transfer_encoding(field.value);
  return wrong == fault_kind::none || fail(field.value_at, wrong);
}

bool head_parser::note_connection(const field_text& field, head_facts& facts) noexcept {
  const auto options = parse_connection(field.value);
  if (!options) return fail(field.value_at, fault_kind::bad_connection);
  if (options->close) facts.set(says_close);
  if (options->keep_alive) facts.set(says_keep_alive);
  if (options->upgrade) facts.set(says_upgrade);
  return true;
}

}  // namespace weft::http::detail
