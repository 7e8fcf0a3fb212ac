// Where a server is, as its operator says: "db.example:3306", "127.0.0.1:3306", "[::1]:3306" or
// "unix:/run/mysqld/mysqld.sock".
//
//   auto where = server_address::parse("db.example:3306");
//   auto addresses = co_await where->look_up(names);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/resolver.hpp>

namespace weft::store::mysql {

/// "::1" of "[::1]:3306", "fe80::1%eth0" of "[fe80::1%eth0]:3306".
[[nodiscard]] std::string host_of(std::string_view address);
/// As a certificate has it: without the zone, which is known to this machine alone.
[[nodiscard]] std::string certified_host_of(std::string_view address);

class server_address {
 public:
  /// errc::invalid_argument: it is none of these.
  [[nodiscard]] static result<server_address> parse(std::string_view text);

  /// At least one, the best first. Fails as the resolver does; asks it only where there is a name.
  [[nodiscard]] task<result<std::vector<net::endpoint>>> look_up(net::resolver& names) const;

  /// As it was given.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The name, or the address, without its port and zone. Empty: of a Unix socket.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }

 private:
  std::string text_;
  std::string host_;
  std::optional<net::endpoint> address_;  // none: it is a name
  std::uint16_t port_ = 0;
};

}  // namespace weft::store::mysql
