// Where to listen or connect: an IPv4 or IPv6 address with a port, or the path of a Unix socket.
//
// Contract: a value, cheap to copy, holding the address as the kernel wants it. Names are not
// looked up: "localhost" is the resolver's business. Text forms: "127.0.0.1:8080", "[::1]:8080",
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
  /// errc::invalid_argument if `text` is none of the forms above.
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
  /// The form parse() takes.
  [[nodiscard]] std::string to_string() const;

 private:
  raw_address address_;
};

}  // namespace weft::net
