// How a connection begins: where the library connects to, what it may do on the way, and what the
// session is told first.
//
// Contract: internal to connections. Stays until the login has ended.
//
//   const login as{where, options};
//   if (auto ready = as.prepare(handle); !ready) return ready;
//   int status = as.start(&connected, handle);
#pragma once

#include <cstdint>
#include <string>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/net/endpoint.hpp>

struct st_mysql;

namespace weft::store::mysql {

struct connection_options;

class login {
 public:
  /// `options` stay.
  login(const net::endpoint& where, const connection_options& options);

  [[nodiscard]] bool is_unix() const noexcept { return !path_.empty(); }
  /// errc::exhausted: there is no memory for it.
  [[nodiscard]] result<void> prepare(st_mysql* handle) const;
  /// As mysql_real_connect_start().
  [[nodiscard]] int start(st_mysql** connected, st_mysql* handle) const;

 private:
  const connection_options& options_;
  std::string host_;  // an address, so that the library has no name to look up
  std::string path_;
  std::uint16_t port_;
};

/// Without this a machine that has gone silently is waited for until the deadline of each call.
void watch_network(int fd, duration silence_max) noexcept;

/// The statement that makes of a session what this engine relies on. Zero days stay what they are:
/// they are told, and to_value() makes none.
[[nodiscard]] std::string session_setup(bool is_mariadb, duration statement_time);

}  // namespace weft::store::mysql
