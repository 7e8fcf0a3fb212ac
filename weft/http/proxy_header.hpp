// What a load balancer says of a connection before its first byte: the PROXY protocol, versions 1
// and 2 (haproxy's doc/proxy-protocol.txt, 2020-03-05).
//
// Problem: behind a balancer every client has the balancer's address; whoever may send this header
// may claim any. Contract: use it on listeners that only balancers can reach, and demand it there:
// the specification forbids to guess whether it is there (section 2.1). parse_proxy_header() is
// given all bytes that have come; `incomplete` may become anything, `complete` and `failed` stay.
// It holds no state: a header has at most 107 bytes in version 1 and `header_bytes` in version 2.
// Version 1 is read to the letter: one space, no leading zeros, CR LF. In version 2 a wrong
// checksum, two of them, a family or command that is not specified, and a TLV that reaches over the
// end fail. LOCAL (health checks), UNKNOWN and UNSPEC leave the addresses out: the socket's own
// count. Close the connection after `failed`, without a word. Nothing is allocated.
//
//   auto said = http::parse_proxy_header(received, {});
//   if (said.status == proxy_status::complete) received.remove_prefix(said.header.size_bytes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/net/ip_address.hpp>

namespace weft::http {

struct proxy_limits {
  // Of version 2, TLVs included; certificates are not sent here. Beyond: failed.
  std::size_t header_bytes = 1024;
};

struct proxy_peer {
  net::ip_address address;
  std::uint16_t port;
};

// Something more that version 2 can say; types as in section 2.2 of the specification.
struct proxy_tlv {
  std::uint8_t type;
  std::string_view value;
};

struct proxy_header {
  std::size_t size_bytes = 0;
  bool is_local = false;                            // the balancer's own connection
  std::optional<proxy_peer> source = std::nullopt;  // who connected to the balancer
  std::optional<proxy_peer> destination = std::nullopt;
  std::string_view tlvs = {};  // of version 2: checked, and part of what was received

  // The first of that type: 1 ALPN, 2 authority (SNI), 5 unique id, 0x20 TLS.
  [[nodiscard]] std::optional<std::string_view> find(std::uint8_t type) const noexcept;
};

enum class proxy_status : std::uint8_t { incomplete, complete, failed };

struct proxy_outcome {
  proxy_status status = proxy_status::incomplete;
  proxy_header header = {};
  std::string_view reason = {};  // of a failure: a constant text
};

[[nodiscard]] proxy_outcome parse_proxy_header(std::string_view received,
                                               const proxy_limits& bounds) noexcept;

}  // namespace weft::http
