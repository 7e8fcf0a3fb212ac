// Who the client is, behind proxies: Forwarded (RFC 7239), or X-Forwarded-For with
// X-Forwarded-Proto.
//
// Problem: the fields are lists that each proxy appends to, and a client may begin them with
// whatever it likes. Contract: only what trusted proxies have said is believed, so the list is read
// from its right end: as long as the one who speaks is trusted, the one it names is asked for next.
// The first that is not trusted is the client; what stands left of it is its own claim, and is
// never looked at. One field is believed, the one the proxies really write: from a proxy that
// appends to one of them a client may send the other. At most 32 hops are gone through. A malformed
// or missing element that a trusted proxy vouches for is an error (answer 400, or do not treat the
// peer as trusted); one that hides who it was ("unknown", "_hidden") gives a client without an
// address. Quoted strings do not go beyond their field line. Of X-Forwarded-Proto, which some
// proxies append to and others replace, the only element counts, else the one that stands as far
// from the right as the client does. Nothing is allocated.
//
//   auto inner = http::trusted_proxies::parse(std::vector<std::string>{"10.0.0.0/8"});
//   auto client = http::find_client(peer, r.headers(), forwarding::forwarded, *inner);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/trusted_proxies.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {

enum class forwarding : std::uint8_t { none, forwarded, x_forwarded_for };

struct forwarded_client {
  // None: a proxy hid it.
  std::optional<net::ip_address> address;
  // What the outermost trusted proxy said of the request it got; empty where it did not say. As
  // sent: "https", "example.com:443". With X-Forwarded-For there is no host.
  std::string_view proto{};
  std::string_view host{};
  // A proxy that is trusted has said so; else it is who has connected.
  bool is_forwarded = false;
};

// `peer` is who is at the other end of the connection. Without trust in it, it is the client.
// errc::protocol_error: a trusted proxy's element is malformed.
[[nodiscard]] result<forwarded_client> find_client(const connection_peer& peer,
                                                   const header_list& headers, forwarding field,
                                                   const trusted_proxies& trusted) noexcept;

}  // namespace weft::http
