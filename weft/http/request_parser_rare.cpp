// The steps of the request parser that few requests take, and those that refuse one. They get a
// copy of the cursor: see head_steps.hpp.
#include <algorithm>

#include <weft/http/framing_fields.hpp>
#include <weft/http/head_steps.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/http/target.hpp>

namespace weft::http {

using namespace detail;

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

bool request_parser::note(const field_text& field, head_facts& facts) noexcept {
  switch (field.name.size()) {
    case 4: return !is_host(field.name.data()) || note_host(field, facts);
    case 6: return !equals_ignoring_case(field.name, "expect") || note_expect(field, facts);
    default: return note_framing(field, facts);
  }
}

bool request_parser::note_host(const field_text& field, head_facts& facts) noexcept {
  if (facts.has(has_host)) return fail(field.name_at, fault_kind::repeated_host);
  facts.set(has_host);
  return is_host_and_port(field.value) || fail(field.value_at, fault_kind::bad_host);
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
  const std::string_view target = in.view(facts.target_begin, facts.target_end);
  const std::string_view authority = split_target(facts.method, target).authority;
  return !host || authority.empty() || equals_ignoring_case(*host, authority) ||
         fail(in.at, fault_kind::host_not_target);
}

}  // namespace weft::http
