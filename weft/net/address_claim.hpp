// Taking a listening address for one program, before its shards share it.
//
// Contract: SO_REUSEPORT alone would let a second program listen on the same port and take half of
// the connections without a word. So the address is first bound without it, which fails when anyone
// listens there, and only then opened to listeners of this program. Port 0 becomes one real port
// for all shards. Unix sockets have no SO_REUSEPORT: the claim listens itself, and the shards
// accept from its socket; the file a dead program left is removed, and so is the claim's own at its
// end. A socket that a service manager has opened is accepted from as it is, and left as it was.
// Hold the claim as long as anyone listens.
//
//   auto claim = net::address_claim::take(where);
//   auto listener = net::tcp_listener::bind(loop, claim->address(), claim->options());
#pragma once

#include <cstdint>
#include <utility>

#include <weft/net/endpoint.hpp>

namespace weft::net {

class address_claim {
 public:
  /// errc::address_in_use when another socket owns the address. `unix_mode`: the permissions of a
  /// Unix socket's file, whoever may write to it may connect; 0: what the umask leaves.
  [[nodiscard]] static result<address_claim> take(const endpoint& wanted, unsigned unix_mode = 0);
  /// On a listening socket that is not this program's alone, and stays the caller's.
  [[nodiscard]] static result<address_claim> borrow(int listener);
  address_claim(address_claim&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)}, address_{other.address_}, kind_{other.kind_} {}
  address_claim& operator=(address_claim&&) = delete;
  ~address_claim();

  /// With the port the system chose, if `wanted` left it open.
  [[nodiscard]] const endpoint& address() const noexcept { return address_; }

  /// What the program's listeners on this address are to be bound with.
  [[nodiscard]] listen_options options(int backlog = listen_options{}.backlog) const noexcept;

 private:
  enum class kind : std::uint8_t { bound, listening, lent };

  address_claim(int fd, const endpoint& address, kind how) noexcept
      : fd_{fd}, address_{address}, kind_{how} {}
  [[nodiscard]] static result<address_claim> make(result<int> fd, kind how);
  int fd_;
  endpoint address_;
  kind kind_;
};

}  // namespace weft::net
