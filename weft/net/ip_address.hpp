// An IPv4 or IPv6 address without a port, and networks of them.
//
// Contract: values. An IPv4 address and the IPv6 address that it is mapped to (::ffff:a.b.c.d, RFC
// 4291 section 2.5.5.2), as a socket for both families sees it, are the same address: a list that
// means one means the other. Text forms are strict: no leading zeros, no zone, no port, no white
// space; a network's address has no bits behind its prefix, since "10.0.0.1/8" is likelier a slip
// than a wish. Nothing allocates but to_string().
//
//   auto inner = net::ip_network::parse("10.0.0.0/8");
//   inner->contains(*net::ip_address::parse("10.1.2.3"));   // true
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/net/endpoint.hpp>

namespace weft::net {

class ip_address {
 public:
  /// "127.0.0.1", "::1". errc::invalid_argument: anything else.
  [[nodiscard]] static result<ip_address> parse(std::string_view text) noexcept;
  /// None for a Unix socket.
  [[nodiscard]] static std::optional<ip_address> of(const endpoint& where) noexcept;
  /// In network order.
  explicit ip_address(std::span<const std::uint8_t, 4> ipv4) noexcept;
  explicit ip_address(std::span<const std::uint8_t, 16> ipv6) noexcept;

  [[nodiscard]] bool is_ipv4() const noexcept;
  /// Of IPv6, or what an IPv4 address is mapped to; in network order.
  [[nodiscard]] const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }
  /// As parse() takes it. The caller includes <string>.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const ip_address&, const ip_address&) noexcept = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

class ip_network {
 public:
  /// "10.0.0.0/8", "fd00::/8"; without a prefix: that one address. errc::invalid_argument: anything
  /// else.
  [[nodiscard]] static result<ip_network> parse(std::string_view text) noexcept;

  /// An IPv6 network holds no IPv4 addresses, "::/0" neither.
  [[nodiscard]] bool contains(const ip_address& address) const noexcept;

 private:
  ip_network(const ip_address& base, unsigned prefix_bits) noexcept
      : base_{base}, prefix_bits_{prefix_bits} {}

  ip_address base_;
  unsigned prefix_bits_;  // of all 128
};

}  // namespace weft::net
