#include <weft/http/target.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

using scan::hex_value;

// Of a host; a colon alone stands for the scheme's own (RFC 3986 section 3.2.3).
bool is_port_or_empty(std::string_view text) noexcept {
  return text.empty() || scan::is_port(text);
}

// Bytes of the IPv6 address in brackets at the start of `text`; 0 where there is none. Groups are
// counted, an embedded IPv4 address is taken for digits and dots: who connects to it will parse it
// in full.
std::size_t bracketed_size(std::string_view text) noexcept {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos || close < 3) return 0;
  const std::string_view address = text.substr(1, close - 1);
  std::size_t colons = 0;
  for (char c : address) {
    if (c == ':')
      ++colons;
    else if (c != '.' && hex_value(c) < 0)
      return 0;
  }
  return colons >= 2 && colons <= 8 ? close + 1 : 0;
}

// Bytes of the reg-name at the start of `text`, escapes included.
std::size_t reg_name_size(std::string_view text) noexcept {
  for (std::size_t at = 0;;) {
    at = scan::skip<scan::set::host>(text.data(), at, text.size());
    if (text.size() - at < 3 || text[at] != '%' || !has_valid_escapes(text.substr(at, 3)))
      return at;
    at += 3;
  }
}

bool is_unreserved(char c) noexcept {
  const unsigned letter = (static_cast<unsigned char>(c) | 0x20u) - 'a';
  return letter < 26 || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

char decode_escape(const char* digits) noexcept {
  return static_cast<char>(hex_value(digits[0]) << 4 | hex_value(digits[1]));
}

void append_encoded(char byte, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  out.push_back('%');
  out.push_back(digits[value >> 4U]);
  out.push_back(digits[value & 0xfU]);
}

void append_as_uri(char byte, std::string& out) {
  if (scan::contains<scan::set::uri>(byte))
    out.push_back(byte);
  else
    append_encoded(byte, out);
}

void append_normal(std::string_view segment, std::string& out) {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      append_as_uri(segment[i], out);
      continue;
    }
    const char decoded = decode_escape(segment.data() + i + 1);
    if (is_unreserved(decoded))
      out.push_back(decoded);
    else
      append_encoded(decoded, out);
    i += 2;
  }
}

// How many dots a segment is, each raw or encoded; 0: it is something else.
unsigned dots_in(std::string_view segment) noexcept {
  unsigned dots = 0;
  for (; !segment.empty() && dots != 3; ++dots) {
    if (segment.starts_with('.'))
      segment.remove_prefix(1);
    else if (segment.starts_with("%2e") || segment.starts_with("%2E"))
      segment.remove_prefix(3);
    else
      return 0;
  }
  return dots == 3 ? 0 : dots;
}

std::string_view path_of(std::string_view target) noexcept {
  return target.substr(0, target.find('?'));
}

// The segment behind the slash at `slash`.
std::string_view segment_at(std::string_view path, std::size_t slash) noexcept {
  const std::string_view rest = path.substr(slash + 1);
  return rest.substr(0, rest.find('/'));
}

// CONNECT names a host and must name a port (RFC 9110 section 9.3.6).
target_parts split_authority_target(std::string_view target) noexcept {
  target_parts parts{.form = target_form::authority, .authority = target};
  const bool has_port =
      target.find(':') != target.npos && !target.ends_with(':') && !target.ends_with(']');
  if (target.starts_with('/') || target == "*")
    parts.fault = fault_kind::target_not_for_method;
  else if (!has_port || !is_host_and_port(target))
    parts.fault = fault_kind::bad_authority;
  return parts;
}

fault_kind check_path_and_query(std::string_view path, std::string_view both) noexcept {
  if (!has_valid_escapes(both)) return fault_kind::bad_target_escape;
  for (std::size_t i = path.find('%'); i != path.npos; i = path.find('%', i + 1))
    if (is_forbidden_escape(path.data() + i)) return fault_kind::forbidden_target_escape;
  return fault_kind::none;
}

target_parts split_absolute_target(std::string_view target) noexcept {
  target_parts parts{.fault = fault_kind::bad_target, .form = target_form::absolute};
  const std::size_t colon = target.find(':');
  if (colon == target.npos || target.substr(colon, 3) != "://") return parts;
  const std::string_view scheme = target.substr(0, colon);
  if (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https")) return parts;

  const std::size_t begin = colon + 3;
  const std::size_t path_begin = std::min(target.find_first_of("/?", begin), target.size());
  const std::size_t path_end = std::min(target.find('?', path_begin), target.size());
  parts.authority = target.substr(begin, path_begin - begin);
  parts.path_begin = static_cast<std::uint32_t>(path_begin);
  parts.path_end = static_cast<std::uint32_t>(path_end);
  const std::string_view path = target.substr(path_begin, path_end - path_begin);
  parts.path_needs_normalizing = path.find('%') != path.npos || path.find("/.") != path.npos ||
                                 !scan::consists_of<scan::set::uri>(path);
  parts.fault = is_host_and_port(parts.authority)
                    ? check_path_and_query(path, target.substr(path_begin))
                    : fault_kind::bad_authority;
  return parts;
}

}  // namespace

bool is_host_and_port(std::string_view text) noexcept {
  if (text.empty()) return false;
  const std::size_t host = text[0] == '[' ? bracketed_size(text) : reg_name_size(text);
  if (host == 0) return false;
  if (host == text.size()) return true;
  return text[host] == ':' && is_port_or_empty(text.substr(host + 1));
}

bool has_valid_escapes(std::string_view text) noexcept {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 3))
    if (!scan::escaped_byte(text, i)) return false;
  return true;
}

bool is_forbidden_escape(const char* percent) noexcept {
  const char byte = decode_escape(percent + 1);
  return byte == '\0' || byte == '\r' || byte == '\n';
}

target_parts split_target(method asked, std::string_view target) noexcept {
  if (asked == method::connect) return split_authority_target(target);
  if (target == "*") {
    const bool fits = asked == method::options;
    return {.fault = fits ? fault_kind::none : fault_kind::target_not_for_method,
            .form = target_form::asterisk};
  }
  return split_absolute_target(target);
}

std::string_view normalize_path(std::string_view path, std::string& room) {
  WEFT_ASSERT(path.starts_with('/') && has_valid_escapes(path),
              "give only paths that the parser has accepted");
  room.clear();
  for (std::size_t slash = 0; slash != std::string_view::npos;) {
    const std::size_t next = path.find('/', slash + 1);
    const std::size_t before = room.size();
    room.push_back('/');
    append_normal(path.substr(slash + 1, next == std::string_view::npos ? next : next - slash - 1),
                  room);
    const std::string_view segment = std::string_view{room}.substr(before + 1);
    const bool is_last = next == std::string_view::npos;
    if (segment == "." || segment == "..") {
      std::size_t keep = before;
      if (segment.size() == 2 && before != 0) keep = room.rfind('/', before - 1);
      room.resize(keep);
      if (is_last) room.push_back('/');
    }
    slash = next;
  }
  return room;
}

std::string encode_target(std::string_view target) {
  std::string encoded;
  encoded.reserve(target.size());
  for (const char each : target) append_as_uri(each, encoded);
  return encoded;
}

bool has_dot_segments(std::string_view target) noexcept {
  const std::string_view path = path_of(target);
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    if (dots_in(segment_at(path, slash)) != 0) return true;
  return false;
}

std::string resolve_target(std::string_view target) {
  const std::string_view path = path_of(target);
  std::string resolved;
  resolved.reserve(target.size());
  for (std::size_t slash = 0; slash != path.size();) {
    const std::string_view segment = segment_at(path, slash);
    const std::size_t end = slash + 1 + segment.size();
    const unsigned dots = dots_in(segment);
    if (dots == 0) resolved.append(path.substr(slash, end - slash));
    if (dots == 2) resolved.resize(std::min(resolved.rfind('/'), resolved.size()));
    if (dots != 0 && end == path.size()) resolved.push_back('/');
    slash = end;
  }
  return encode_target(resolved.append(target.substr(path.size())));
}

result<std::string> percent_decode(std::string_view text) {
  if (!has_valid_escapes(text)) return fail(errc::invalid_argument);
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      decoded.push_back(decode_escape(text.data() + i + 1));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

std::optional<std::string_view> find_query_parameter(std::string_view query,
                                                     std::string_view name) noexcept {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const std::size_t equals = part.find('=');
    if (part.substr(0, equals) == name)
      return equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
  }
  return std::nullopt;
}

}  // namespace weft::http
