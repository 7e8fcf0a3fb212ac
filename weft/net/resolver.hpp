// Addresses of names, by c-ares on the shard's own loop: no thread, no blocking call but the
// reading of /etc/hosts and /etc/resolv.conf.
//
// Contract: one a shard, used there alone, made after the loop and dropped before it; dropping it
// ends lookups with errc::cancelled. A wait ends with errc::cancelled when its task is asked to
// stop and with errc::timed_out at its deadline; other lookups go on. Numeric addresses, /etc/hosts
// and localhost (RFC 6761) cost no packet. Addresses come sorted as RFC 6724 has it, at least one.
// Nothing is kept for the next who asks. Where the file of servers (/etc/resolv.conf) has changed
// it is read again, by the next lookup that is at least a second after the last look at it, or
// after reload(); lookups under way then ask the new servers. A file that is missing, or that
// cannot be used, changes nothing. Failures:
//   errc::not_found         no such name, or it has no address of the family
//   errc::timed_out         no server answered, each having been asked `attempts` times
//   errc::unavailable       the servers refuse, fail, or cannot be reached
//   errc::protocol_error    an answer that is none
//   errc::invalid_argument  a name that no server could know
//   errc::unsupported       a name, on a backend with addresses of its own
//
//   auto names = net::resolver::create(loop);
//   auto addresses = co_await names->resolve("db.example", 5432);
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/endpoint.hpp>

namespace weft::net {

struct resolver_options {
  /// "192.0.2.1:53", "[2001:db8::1]:53"; none: those that `file` names.
  std::vector<std::string> servers{};
  /// As resolv.conf(5).
  std::string file = "/etc/resolv.conf";
  /// Of the servers that it names.
  std::uint16_t port = 53;
  /// How long a server is waited for the first time; doubled for each further round.
  duration attempt_timeout = std::chrono::seconds{2};
  /// How often each server is asked.
  int attempts = 3;
};

namespace detail {
class resolver_state;
}

class resolver {
 public:
  /// errc::invalid_argument for a server that is no address.
  [[nodiscard]] static result<resolver> create(event_loop& loop,
                                               const resolver_options& options = {});
  resolver(resolver&& other) noexcept;
  resolver& operator=(resolver&&) = delete;
  ~resolver();

  /// `family` is AF_INET, AF_INET6, or AF_UNSPEC for both.
  [[nodiscard]] task<result<std::vector<endpoint>>> resolve(std::string name, std::uint16_t port,
                                                            int family = AF_UNSPEC);

  /// Has the next lookup look at the file of servers, however short the last look is ago.
  void reload() noexcept;

 private:
  explicit resolver(detail::resolver_state& state) noexcept : state_{&state} {}
  detail::resolver_state* state_;
};

}  // namespace weft::net
