#include <weft/http/client/url.hpp>

#include <charconv>

#include <weft/http/headers.hpp>
#include <weft/http/scan.hpp>
#include <weft/http/target.hpp>

namespace weft::http {
namespace {

constexpr std::size_t host_bytes_most = 255;  // of a name in the DNS (RFC 1035 section 2.3.4)

/// Takes "http://" or "https://" off.
bool take_scheme(std::string_view& text, url_parts& parts) noexcept {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos) return false;
  const std::string_view name = text.substr(0, end);
  if (equals_ignoring_case(name, "https"))
    parts.scheme = scheme::https;
  else if (!equals_ignoring_case(name, "http"))
    return false;
  parts.port = parts.scheme == scheme::https ? 443 : 80;
  text.remove_prefix(end + 3);
  return true;
}

/// Of an authority that is_host_and_port() has found good.
bool split_authority(url_parts& parts) noexcept {
  const std::string_view text = parts.authority;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  parts.host = text.substr(0, colon);
  if (parts.host.starts_with('[')) parts.host = parts.host.substr(1, parts.host.size() - 2);
  const std::string_view port =
      colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (!port.empty()) std::from_chars(port.data(), port.data() + port.size(), parts.port);
  return parts.port != 0 && parts.host.size() <= host_bytes_most;
}

/// The "#" is gone by then.
bool may_be_encoded(std::string_view target) noexcept {
  return !target.contains('\t') && scan::consists_of<scan::set::field>(target);
}

}  // namespace

std::string_view to_string(scheme which) noexcept {
  return which == scheme::https ? "https" : "http";
}

std::string without_user(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  const std::size_t begin = scheme_end == std::string_view::npos ? 0 : scheme_end + 3;
  const std::string_view rest = text.substr(begin);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  // A password with a slash in it looks like a port that is no number.
  const bool has_port_of_digits =
      colon == std::string_view::npos ||
      authority.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  const bool is_whole = !authority.contains('@') && has_port_of_digits;
  const std::size_t at = is_whole ? std::string_view::npos : rest.rfind('@');
  if (at == std::string_view::npos) return std::string{text};
  return std::string{text.substr(0, begin)}.append("***").append(rest.substr(at));
}

std::expected<url_parts, std::string_view> parse_url(std::string_view text) noexcept {
  url_parts parts;
  std::string_view rest = text;
  if (!take_scheme(rest, parts)) return std::unexpected{"a URL begins with http:// or https://"};
  rest = rest.substr(0, rest.find('#'));
  parts.authority = rest.substr(0, rest.find_first_of("/?"));
  parts.target = rest.substr(parts.authority.size());
  if (parts.authority.contains('@'))
    return std::unexpected{"a user in a URL is not sent: set an Authorization header"};
  if (!is_host_and_port(parts.authority) || !split_authority(parts))
    return std::unexpected{"the URL's host and port are none"};
  const bool is_encoded = scan::consists_of<scan::set::uri>(parts.target);
  parts.is_resolved = is_encoded && !has_dot_segments(parts.target);
  if (!is_encoded && !may_be_encoded(parts.target))
    return std::unexpected{"the URL has a control character behind its host"};
  if (!has_valid_escapes(parts.target))
    return std::unexpected{"the URL has a percent sign without two hexadecimal digits"};
  return parts;
}

}  // namespace weft::http
