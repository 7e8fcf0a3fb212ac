#include <weft/http/client/url.hpp>

#include <algorithm>
#include <charconv>

#include <weft/base/format.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/scan.hpp>
#include <weft/http/target.hpp>
#include <weft/net/ascii_name.hpp>

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

/// Scheme, authority and target, none of which has been looked at but the scheme.
std::expected<url_parts, std::string_view> split_url(std::string_view text) noexcept {
  url_parts parts;
  if (!take_scheme(text, parts)) return std::unexpected{"a URL begins with http:// or https://"};
  text = text.substr(0, text.find('#'));
  parts.authority = text.substr(0, text.find_first_of("/?"));
  parts.target = text.substr(parts.authority.size());
  if (parts.authority.contains('@'))
    return std::unexpected{"a user in a URL is not sent: set an Authorization header"};
  return parts;
}

/// Empty: it can be sent, when it has been resolved.
std::string_view fault_of_target(std::string_view target) noexcept {
  const bool may_be_encoded = !target.contains('\t') && scan::consists_of<scan::set::field>(target);
  if (!may_be_encoded) return "the URL has a control character behind its host";
  if (!has_valid_escapes(target))
    return "the URL has a percent sign without two hexadecimal digits";
  return {};
}

bool may_name_interface(char c) noexcept {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
         std::string_view{"-._~"}.contains(c);
}

struct spelled_authority {
  std::string text;  // to be sent
  std::string zone;
};
using spelling = std::expected<spelled_authority, std::string>;

/// An IPv6 address in brackets that may have a zone. By RFC 6874 a "%25" stands before that; many
/// write the "%" alone.
spelling spell_address(std::string_view authority) {
  const std::string_view written = authority.substr(0, authority.find(']'));
  const std::size_t percent = written.find('%');
  if (percent == std::string_view::npos) return spelled_authority{std::string{authority}, {}};
  std::string_view zone = written.substr(percent + 1);
  if (zone.size() > 2 && zone.starts_with("25")) zone.remove_prefix(2);
  const auto decoded = percent_decode(zone);
  if (!decoded || decoded->empty() || !std::ranges::all_of(*decoded, may_name_interface))
    return std::unexpected{weft::format(
        "\"{}\" is not a zone: write the name or the number of a network interface", zone)};
  return spelled_authority{
      weft::format("{}{}", written.substr(0, percent), authority.substr(written.size())), *decoded};
}

/// A name in any letters, which may be percent-encoded.
spelling spell_name(std::string_view authority) {
  const std::size_t end = std::min(authority.rfind(':'), authority.size());
  const auto written = percent_decode(authority.substr(0, end));
  if (!written) return std::unexpected{"the URL's host and port are none"};
  const auto name = net::ascii_name(*written);
  if (!name) return std::unexpected{name.error()};
  if (!scan::consists_of<scan::set::host>(*name))
    return std::unexpected{"the URL's host and port are none"};
  return spelled_authority{weft::format("{}{}", *name, authority.substr(end)), {}};
}

spelling spell(std::string_view authority) {
  return authority.starts_with('[') ? spell_address(authority) : spell_name(authority);
}

}  // namespace

std::string_view to_string(scheme which) noexcept {
  return which == scheme::https ? "https" : "http";
}

std::string host_and_port(const url_parts& to) {
  return to.host.contains(':') ? weft::format("[{}]:{}", to.host, to.port)
                               : weft::format("{}:{}", to.host, to.port);
}

std::string address_text(const url_parts& to) {
  return to.zone.empty() ? host_and_port(to)
                         : weft::format("[{}%{}]:{}", to.host, to.zone, to.port);
}

std::string origin_text(const url_parts& of) {
  if (of.zone.empty()) return weft::format("{}://{}", to_string(of.scheme), of.authority);
  const std::size_t end = of.authority.find(']');
  return weft::format("{}://{}%25{}{}", to_string(of.scheme), of.authority.substr(0, end), of.zone,
                      of.authority.substr(end));
}

std::expected<url_parts, std::string_view> parse_url(std::string_view text) noexcept {
  auto parts = split_url(text);
  if (!parts) return parts;
  if (!is_host_and_port(parts->authority) || !split_authority(*parts))
    return std::unexpected{"the URL's host and port are none"};
  if (const std::string_view fault = fault_of_target(parts->target); !fault.empty())
    return std::unexpected{fault};
  parts->is_resolved = !parts->authority.contains('%') &&
                       scan::consists_of<scan::set::uri>(parts->target) &&
                       !has_dot_segments(parts->target);
  return parts;
}

std::expected<url_parts, std::string> read_url(std::string_view text, std::string& room) {
  if (const auto plain = parse_url(text); plain && plain->is_resolved) return *plain;
  const auto parts = split_url(text);
  if (!parts) return std::unexpected{std::string{parts.error()}};
  if (const std::string_view fault = fault_of_target(parts->target); !fault.empty())
    return std::unexpected{std::string{fault}};
  const spelling host = spell(parts->authority);
  if (!host) return std::unexpected{host.error()};
  room = weft::format("{}://{}{}", to_string(parts->scheme), host->text,
                      resolve_target(parts->target));
  const std::size_t size = room.size();
  room += host->zone;
  auto read = parse_url(std::string_view{room}.substr(0, size));
  if (!read) return std::unexpected{std::string{read.error()}};
  read->zone = std::string_view{room}.substr(size);
  return *read;
}

}  // namespace weft::http
