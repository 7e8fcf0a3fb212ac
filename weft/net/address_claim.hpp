// Taking a listening address for one program, before its shards share it.
//
// Contract: SO_REUSEPORT alone would let a second program listen on the same port and take half of
// the connections without a word. So the address is first bound without it, which fails when anyone
// listens there, and only then opened to listeners of this program. Port 0 becomes one real port
// for all shards. Unix sockets have no SO_REUSEPORT: the claim listens itself, and the shards
// accept from its socket; the file a dead program left is removed, and so is the claim's own at its
// end. Hold the claim as long as anyone listens.
//
//   auto claim = net::address_claim::take(where);
//   auto listener = net::tcp_listener::bind(loop, claim->address(), claim->options());
#pragma once

#include <utility>

#include <weft/net/endpoint.hpp>

namespace weft::net {

class address_claim {
 public:
  /// errc::address_in_use when another socket owns the address.
  [[nodiscard]] static result<address_claim> take(const endpoint& wanted);
  address_claim(address_claim&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)}, address_{other.address_} {}
  address_claim& operator=(address_claim&&) = delete;
  ~address_claim();

  /// With the port the system chose, if `wanted` left it open.
  [[nodiscard]] const endpoint& address() const noexcept { return address_; }

  /// What the program's listeners on this address are to be bound with.
  [[nodiscard]] listen_options options(int backlog = listen_options{}.backlog) const noexcept;

 private:
  address_claim(int fd, const endpoint& address) noexcept : fd_{fd}, address_{address} {}
  int fd_;
  endpoint address_;
};

}  // namespace weft::net
