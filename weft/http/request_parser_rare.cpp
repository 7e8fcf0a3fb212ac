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

struct request_parser::field_text {
  std::size_t name_at;
  std::size_t value_at;
  std::string_view value;
};

bool request_parser::note(const char* text, const header_list::entry& entry,
                          head_facts& facts) noexcept {
  const std::string_view name{text + entry.name, text + entry.name_end};
  const field_text field{.name_at = entry.name,
                         .value_at = entry.value,
                         .value = {text + entry.value, text + entry.value_end}};
  switch (name.size()) {
    case 4: return !is_host(name.data()) || note_host(field, facts);
    case 6: return !equals_ignoring_case(name, "expect") || note_expect(field, facts);
    case 10: return !is_connection(name.data()) || note_connection(field, facts);
    case 14: return !is_content_length(name.data()) || note_content_length(field, facts);
    default:
      return !equals_ignoring_case(name, "transfer-encoding") ||
             note_transfer_encoding(field, facts);
  }
}

bool request_parser::note_host(const field_text& field, head_facts& facts) noexcept {
  if (facts.has(has_host)) return fail(field.name_at, fault_kind::repeated_host);
  facts.set(has_host);
  return is_host_and_port(field.value) || fail(field.value_at, fault_kind::bad_host);
}

bool request_parser::note_content_length(const field_text& field, head_facts& facts) noexcept {
  if (facts.has(has_content_length))
    return fail(field.name_at, fault_kind::repeated_content_length);
  facts.set(has_content_length);
  const auto length = parse_content_length(field.value);
  if (!length) return fail(field.value_at, fault_kind::bad_content_length);
  facts.content_length = *length;
  return true;
}

bool request_parser::note_transfer_encoding(const field_text& field, head_facts& facts) noexcept {
  if (facts.has(has_transfer_encoding))
    return fail(field.name_at, fault_kind::repeated_transfer_encoding);
  facts.set(has_transfer_encoding);
  const fault_kind wrong = check_transfer_encoding(field.value);
  return wrong == fault_kind::none || fail(field.value_at, wrong);
}

bool request_parser::note_connection(const field_text& field, head_facts& facts) noexcept {
  const auto options = parse_connection(field.value);
  if (!options) return fail(field.value_at, fault_kind::bad_connection);
  if (options->close) facts.set(says_close);
  if (options->keep_alive) facts.set(says_keep_alive);
  if (options->upgrade) facts.set(says_upgrade);
  return true;
}

// An HTTP/1.0 client cannot know what 100 means, so what it says here is passed over (RFC 9110
// section 10.1.1).
bool request_parser::note_expect(const field_text& field, head_facts& facts) noexcept {
  if (facts.minor_version == 0) return true;
  facts.set(expects_continue);
  return expects_only_continue(field.value) ||
         fail(field.value_at, fault_kind::unknown_expectation);
}

bool request_parser::check_whole(cursor in) noexcept {
  const head_facts& facts = in.facts();
  if (!facts.has(has_host) && facts.minor_version != 0)
    return fail(in.at, fault_kind::missing_host);
  if (facts.has(has_transfer_encoding)) {
    if (facts.minor_version == 0) return fail(in.at, fault_kind::chunked_in_http_1_0);
    if (facts.has(has_content_length)) return fail(in.at, fault_kind::length_and_chunked);
  }
  // Who names the host in the target must repeat it in Host (RFC 9112 section 3.2); where the two
  // differ, somebody before us may have routed by the other one.
  if (facts.form == target_form::origin || header_count_ != 0) return true;
  const auto host = in.head->headers().find("host");
  const std::string_view authority = split_target(facts.method, in.head->target()).authority;
  return !host || authority.empty() || equals_ignoring_case(*host, authority) ||
         fail(in.at, fault_kind::host_not_target);
}

}  // namespace weft::http
