// Connecting to a name: all its addresses, the fastest to answer wins.
//
// Contract: happy eyeballs, version 2 (RFC 8305). IPv6 and IPv4 addresses are looked up at once and
// tried by turns, IPv6 first; IPv4 alone waits 50 ms for IPv6 to be found. While one attempt has
// not ended the next begins 250 ms later, and at once when one fails. The first success is given;
// the other attempts are cancelled, and have ended before this returns. `target` is "name:port",
// "127.0.0.1:8080", "[::1]:8080", "[fe80::1%eth0]:8080" or "unix:/path". Ends with errc::cancelled
// when its task is asked to stop, and with errc::timed_out at the task's deadline or after
// `timeout`, whichever is first. errc::not_found: no such name, or no such zone.
//
//   auto stream = co_await net::connect(loop, names, "db.example:5432");
//   if (!stream) log::error(stream.error().message());
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/resolver.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::net {

struct connect_options {
  /// For all of it: lookups and attempts.
  duration timeout = std::chrono::seconds{30};
  /// From one attempt to the next (RFC 8305 section 5: no less than 10 ms).
  duration attempt_delay = std::chrono::milliseconds{250};
  /// How long IPv4 waits for the IPv6 addresses to be found (section 3).
  duration resolution_delay = std::chrono::milliseconds{50};
};

/// Why no connection came about: each address that was tried with its failure, in the order in
/// which they failed.
struct connect_failure {
  struct attempt {
    endpoint address;
    error why;
  };

  /// Of the whole: errc::cancelled, errc::timed_out, errc::invalid_argument for the target, else
  /// why the last attempt failed, or, where there was none, the lookup.
  error why;
  std::string target;
  std::vector<attempt> attempts;

  /// One line for people.
  [[nodiscard]] std::string message() const;
};

[[nodiscard]] task<std::expected<tcp_stream, connect_failure>> connect(
    event_loop& loop, resolver& names, std::string target, connect_options options = {});

}  // namespace weft::net
