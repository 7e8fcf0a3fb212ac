// Where to listen or connect: an IPv4 or IPv6 address with a port, or the path of a Unix socket.
//
// Contract: a value, cheap to copy, holding the address as the kernel wants it. Names are not
// looked up: "localhost" is the resolver's business. Text forms: "127.0.0.1:8080", "[::1]:8080",
// "[fe80::1%eth0]:8080" (of a zone: the interface by its name or number, RFC 4007 section 11),
// ":8080" (all IPv4 addresses), "unix:/run/app.sock", "unix:@app" (an abstract name, which is no
// file and ends with its last socket).
//
//   auto where = net::endpoint::parse("127.0.0.1:8080");
//   if (!where) return where.error();
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/loop/backend.hpp>

namespace weft::net {

class endpoint {
 public:
  /// errc::invalid_argument: `text` is none of the forms above. errc::not_found: its zone is no
  /// network interface of this machine.
  [[nodiscard]] static result<endpoint> parse(std::string_view text);
  /// 127.0.0.1 with `port`; 0 lets the system choose one.
  [[nodiscard]] static endpoint loopback(std::uint16_t port) noexcept;

  explicit endpoint(const raw_address& address) noexcept : address_{address} {}

  /// 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] int family() const noexcept { return address_.storage.ss_family; }
  /// Whether it is a Unix socket without a file.
  [[nodiscard]] bool is_abstract() const noexcept;
  [[nodiscard]] const raw_address& raw() const noexcept { return address_; }
  /// The form parse() takes. Asks the system for the name of a zone.
  [[nodiscard]] std::string to_string() const;

 private:
  raw_address address_;
};

/// The zone that an IPv6 address in brackets names at the front of `text`; empty: none.
[[nodiscard]] std::string_view zone_of(std::string_view text) noexcept;

/// Why endpoint::parse() does not find the zone of `text`, for people.
[[nodiscard]] std::string no_such_zone(std::string_view text);

}  // namespace weft::net
