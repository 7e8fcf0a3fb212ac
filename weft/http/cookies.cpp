#include <weft/http/cookies.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <weft/http/field_syntax.hpp>

namespace weft::http {
namespace {

using field_syntax::is_token;
using field_syntax::trim;

constexpr std::size_t pair_bytes_max = 4096;       // RFC 6265bis section 5.6
constexpr std::size_t attribute_bytes_max = 1024;  // of each attribute's value, as above

// RFC 6265 section 4.1.1: visible ASCII but these four.
constexpr bool is_cookie_octet(char c) noexcept {
  return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

bool is_cookie_value(std::string_view text) noexcept {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::ranges::all_of(text, is_cookie_octet);
}

// Labels of letters, digits and hyphens (RFC 1034 section 3.5), and no dot at either end.
bool is_host_name(std::string_view text) noexcept {
  if (text.size() > 253) return false;
  for (std::string_view rest = text;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-')
      return false;
    for (char c : label)
      if (c != '-' && scan::detail::alphanumeric.find(c) == std::string_view::npos) return false;
    if (dot == std::string_view::npos) return true;
    rest.remove_prefix(dot + 1);
  }
}

bool is_path(std::string_view text) noexcept {
  return text.starts_with('/') &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f && c != ';'; });
}

bool has_prefix(std::string_view name, std::string_view prefix) noexcept {
  return equals_ignoring_case(name.substr(0, prefix.size()), prefix);
}

std::string_view fault_of_pair(const set_cookie& wanted) noexcept {
  if (!is_token(wanted.name)) return "the name must be a token (RFC 6265 section 4.1.1)";
  if (!is_cookie_value(wanted.value))
    return "the value holds white space, a control character, or one of \" , ; \\: encode it";
  if (wanted.name.size() + wanted.value.size() > pair_bytes_max)
    return "name and value have more than 4096 bytes together";
  return {};
}

std::string_view fault_of_attributes(const set_cookie& wanted) noexcept {
  if (!wanted.domain.empty() && !is_host_name(wanted.domain))
    return "Domain must be a host name without a dot at either end";
  if (!wanted.path.empty() && !is_path(wanted.path))
    return "Path must begin with / and hold no ; and no control character";
  if (wanted.path.size() > attribute_bytes_max) return "Path has more than 1024 bytes";
  return {};
}

std::string_view fault_of_promises(const set_cookie& wanted) noexcept {
  if (wanted.same_site == same_site::none && !wanted.secure) return "SameSite=None needs Secure";
  if (wanted.partitioned && !wanted.secure) return "Partitioned needs Secure";
  if (has_prefix(wanted.name, "__Secure-") && !wanted.secure) return "__Secure- needs Secure";
  if (!has_prefix(wanted.name, "__Host-")) return {};
  if (!wanted.secure) return "__Host- needs Secure";
  if (wanted.path != "/") return "__Host- needs Path=/";
  return wanted.domain.empty() ? std::string_view{} : "__Host- forbids Domain";
}

void append_attribute(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out.append(name).append(value);
}

void append_number(std::string& out, std::uint32_t number) {
  std::array<char, 10> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

std::string_view text_of(same_site which) noexcept {
  switch (which) {
    case same_site::unset: break;
    case same_site::strict: return "Strict";
    case same_site::lax: return "Lax";
    case same_site::none: return "None";
  }
  return {};
}

}  // namespace

cookies::iterator& cookies::iterator::operator++() noexcept {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find(';');
    const std::string_view piece = trim(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) continue;
    at_ = {.name = piece.substr(0, equals), .value = piece.substr(equals + 1)};
    if (is_token(at_.name) && is_cookie_value(at_.value)) return *this;
  }
  at_ = {};
  return *this;
}

std::optional<std::string_view> find_cookie(const header_list& headers,
                                            std::string_view name) noexcept {
  for (std::size_t i = headers.index_of("cookie"); i < headers.size();
       i = headers.index_of("cookie", i + 1))
    for (const cookie each : cookies{headers[i].value})
      if (each.name == name) return each.value;
  return std::nullopt;
}

std::string_view fault_of(const set_cookie& wanted) noexcept {
  if (const std::string_view fault = fault_of_pair(wanted); !fault.empty()) return fault;
  if (const std::string_view fault = fault_of_attributes(wanted); !fault.empty()) return fault;
  return fault_of_promises(wanted);
}

result<> write_set_cookie(const set_cookie& wanted, std::string& out) {
  if (!fault_of(wanted).empty()) return fail(errc::invalid_argument);
  out.clear();
  out.append(wanted.name).append("=").append(wanted.value);
  append_attribute(out, "; Domain=", wanted.domain);
  append_attribute(out, "; Path=", wanted.path);
  if (wanted.max_age_seconds) {
    out.append("; Max-Age=");
    append_number(out, *wanted.max_age_seconds);
  }
  append_attribute(out, "; SameSite=", text_of(wanted.same_site));
  if (wanted.secure) out.append("; Secure");
  if (wanted.http_only) out.append("; HttpOnly");
  if (wanted.partitioned) out.append("; Partitioned");
  return {};
}

}  // namespace weft::http
