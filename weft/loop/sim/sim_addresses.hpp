// How a simulated network compares addresses.
//
// Contract: internal to sim. Hosts are 10.0.0.1, 10.0.0.2, ... in the order in which they were
// made.
//
//   if (listens_at(listener.local, wanted)) ...
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <cstring>

#include <weft/loop/raw_address.hpp>

namespace weft {

inline constexpr std::uint32_t first_host_address = 0x0a00'0001;

[[nodiscard]] inline bool same_address(const raw_address& left, const raw_address& right) noexcept {
  return left.size_bytes == right.size_bytes &&
         std::memcmp(&left.storage, &right.storage, left.size_bytes) == 0;
}

/// nullptr where there are no ports.
[[nodiscard]] inline std::uint16_t* port_of(raw_address& address) noexcept {
  switch (address.storage.ss_family) {
    case AF_INET: return &reinterpret_cast<sockaddr_in&>(address.storage).sin_port;
    case AF_INET6: return &reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port;
    default: return nullptr;
  }
}

[[nodiscard]] inline std::uint32_t ipv4_of(const raw_address& address) noexcept {
  return ntohl(reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr);
}

/// Whether who listens at `bound` is whom `wanted` means.
[[nodiscard]] inline bool listens_at(const raw_address& bound, const raw_address& wanted) noexcept {
  if (same_address(bound, wanted)) return true;
  if (bound.storage.ss_family != AF_INET || wanted.storage.ss_family != AF_INET) return false;
  const auto port = [](const raw_address& a) {
    return reinterpret_cast<const sockaddr_in&>(a.storage).sin_port;
  };
  return port(bound) == port(wanted) && ipv4_of(bound) == INADDR_ANY;
}

}  // namespace weft
