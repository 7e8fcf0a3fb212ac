#include <weft/http/preconditions.hpp>

#include <weft/http/http_date.hpp>

namespace weft::http {
namespace {

using tag_comparison = bool (*)(entity_tag, entity_tag) noexcept;

enum class match : std::uint8_t { not_sent, yes, no, malformed };

// Of all fields of that name together, as if they were one list (RFC 9110 section 5.3).
match match_tags(const header_list& headers, std::string_view name, const representation& current,
                 tag_comparison are_equal) noexcept {
  match found = match::not_sent;
  for (std::size_t i = headers.index_of(name); i < headers.size();
       i = headers.index_of(name, i + 1)) {
    std::string_view list = headers[i].value;
    if (found == match::not_sent) found = match::no;
    if (list == "*") {
      if (current.exists) found = match::yes;
      continue;
    }
    for (std::optional<entity_tag> tag;;) {
      if (!take_entity_tag(list, tag)) return match::malformed;
      if (!tag) break;
      if (current.exists && current.tag && are_equal(*tag, *current.tag)) found = match::yes;
    }
  }
  return found;
}

// None where it was not sent, sent twice, or is no date.
std::optional<std::int64_t> find_date(const header_list& headers, std::string_view name,
                                      std::int64_t now) noexcept {
  const std::size_t at = headers.index_of(name);
  if (at == headers.size() || headers.index_of(name, at + 1) != headers.size()) return std::nullopt;
  return parse_http_date(headers[at].value, now);
}

// Steps 1 and 2 of RFC 9110 section 13.2.2.
bool is_still_what_it_was(const header_list& headers, const representation& current,
                          std::int64_t now) noexcept {
  const match tags = match_tags(headers, "if-match", current, equal_strongly);
  if (tags != match::not_sent) return tags == match::yes;
  const std::size_t at = headers.index_of("if-unmodified-since");
  if (at == headers.size() || !current.modified) return true;
  if (headers.index_of("if-unmodified-since", at + 1) != headers.size()) return false;
  const auto since = parse_http_date(headers[at].value, now);
  return !since || *current.modified <= *since;
}

// Steps 3 and 4: whether the client's copy is as good as ours.
bool is_known(bool reads, const header_list& headers, const representation& current,
              std::int64_t now) noexcept {
  const match tags = match_tags(headers, "if-none-match", current, equal_weakly);
  if (tags != match::not_sent) return tags == match::yes;
  if (!reads || !current.modified) return false;
  const auto since = find_date(headers, "if-modified-since", now);
  return since && *current.modified <= *since;
}

}  // namespace

precondition check_preconditions(method asked, const header_list& headers,
                                 const representation& current, std::int64_t now) noexcept {
  const bool reads = asked == method::get || asked == method::head;
  // RFC 9110 section 13.2.1: methods that neither select nor change a representation.
  if (asked == method::connect || asked == method::options || asked == method::trace)
    return precondition::met;
  if (!is_still_what_it_was(headers, current, now)) return precondition::failed;
  if (!is_known(reads, headers, current, now)) return precondition::met;
  return reads ? precondition::not_modified : precondition::failed;
}

bool if_range_holds(const header_list& headers, const representation& current,
                    std::int64_t now) noexcept {
  const std::size_t at = headers.index_of("if-range");
  if (at == headers.size()) return true;
  if (headers.index_of("if-range", at + 1) != headers.size()) return false;
  const std::string_view value = headers[at].value;
  if (const auto tag = parse_entity_tag(value))
    return current.tag && equal_strongly(*tag, *current.tag);
  const auto date = parse_http_date(value, now);
  return date && current.modified && *date == *current.modified && *current.modified < now;
}

}  // namespace weft::http
