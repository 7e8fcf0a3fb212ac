// The parts of an http or https URL (RFC 3986, RFC 9110 section 4.2).
//
// Contract: strict, and owns nothing: all are views into the text that was parsed. User information
// is refused, since who gives passwords away in a URL finds them in logs (RFC 9110 section 4.2.4);
// a fragment is left out: it is the client's own. A path and a query may hold what is to be
// percent-encoded before it is sent, and dot segments (resolve_target()), but no control
// characters. A backslash is no slash: where a host should end it makes the URL none. Single
// thread.
//
// parse_url() takes a URL that can be used as it is, but for its target. read_url() also takes an
// IPv6 address with a zone ("[fe80::1%25eth0]" of RFC 6874, or "[fe80::1%eth0]"), and an
// internationalized host ("bücher.example", ascii_name.hpp).
//
//   auto to = parse_url("http://orders.example:8080/orders?open");
//   // to->host == "orders.example", to->port == 8080, to->target == "/orders?open"
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace weft::http {

enum class scheme : std::uint8_t { http, https };

/// "http" or "https".
[[nodiscard]] std::string_view to_string(scheme which) noexcept;

struct url_parts {
  http::scheme scheme = http::scheme::http;
  /// Without the brackets of an IPv6 address; at most 255 bytes.
  std::string_view host{};
  /// The scheme's own where none is given.
  std::uint16_t port = 0;
  /// Host and port as given: the value of a Host field.
  std::string_view authority{};
  /// The network interface of a link-local IPv6 address; empty: none. Local to this machine, so it
  /// is never sent.
  std::string_view zone{};
  /// Path and query. What does not begin with "/" is to be sent with one before it.
  std::string_view target{};
  /// Whether `host` and `target` may be sent as they are. If not, use read_url().
  bool is_resolved = true;
};

/// "orders.example:8080", "[::1]:80": to be sent.
[[nodiscard]] std::string host_and_port(const url_parts& to);
/// The same with the zone: to be dialled.
[[nodiscard]] std::string address_text(const url_parts& to);

/// "http://orders.example:8080", with the zone, as read_url() takes it.
[[nodiscard]] std::string origin_text(const url_parts& of);

/// The error is a clause for people, in static storage.
[[nodiscard]] std::expected<url_parts, std::string_view> parse_url(std::string_view text) noexcept;
/// With is_resolved set. Views into `text`, or into `room`, which is overwritten then. The
/// error is a clause for people.
[[nodiscard]] std::expected<url_parts, std::string> read_url(std::string_view text,
                                                             std::string& room);

}  // namespace weft::http
