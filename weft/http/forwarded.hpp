// Who the client is, behind proxies: Forwarded (RFC 7239) and X-Forwarded-For.
//
// Problem: the fields are lists that each proxy appends to, and a client may begin them with
// whatever it likes. Contract: only what trusted proxies have said is believed, so the list is read
// from its right end: as long as the one who speaks is trusted, the one it names is asked for next.
// The first that is not trusted is the client; what stands left of it is its own claim, and is
// never looked at. One field is believed, the one the proxies really write: from a proxy that
// appends to one of them a client may send the other. At most 32 hops are gone through. A malformed
// or missing element that a trusted proxy vouches for is an error (answer 400, or do not treat the
// peer as trusted); one that hides who it was ("unknown", "_hidden") gives a client without an
// address. Quoted strings do not go beyond their field line. Nothing is allocated.
//
//   const auto inner = {*net::ip_network::parse("10.0.0.0/8")};
//   auto client = http::find_client(peer, r.headers(), forwarding::forwarded, inner);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/headers.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {

enum class forwarding : std::uint8_t { none, forwarded, x_forwarded_for };

struct forwarded_client {
  // None: a proxy hid it.
  std::optional<net::ip_address> address;
  // What the outermost trusted proxy said of the request it got; empty where it did not say, and
  // with X-Forwarded-For. As sent: "https", "example.com:443".
  std::string_view proto{};
  std::string_view host{};
};

// `peer` is who is at the other end of the socket. Without trust in it, it is the client.
// errc::protocol_error: a trusted proxy's element is malformed.
[[nodiscard]] result<forwarded_client> find_client(
    const net::ip_address& peer, const header_list& headers, forwarding field,
    std::span<const net::ip_network> trusted) noexcept;

}  // namespace weft::http
