// Keeps a long packet of the server out until there is memory for it.
//
// Problem: a row comes as one packet. The library learns its length from the packet's header, makes
// room for it and reads on for as long as the network has more. Contract: of one connection that is
// open, whose handle is closed before the gate ends. Once the library has made room for more than
// `open_bytes`, the gate is shut: the library's reads find nothing, so that its call waits as for
// the network, and the bytes stay with the server. wanted() returns how many bytes the library has
// made room for, and let_in() opens the gate for as many. A row of more than 16 MiB comes in
// several packets, each of which shuts the gate once more. narrow() gives the room of a packet
// back. By Connector/C 3.4 a shut gate does not hold reads back: what the kernel has is read, and
// it is for the caller not to go on.
//
//   packet_gate gate{handle};
//   while (gate.is_shut()) gate.let_in();  // after so much memory was reserved
#pragma once

#include <cstddef>

#include <mariadb/mysql.h>
// After the library's own types.
#include <mariadb/ma_pvio.h>

namespace weft::store::mysql {

class packet_gate {
 public:
  static constexpr std::size_t open_bytes = std::size_t{64} * 1024;

  /// `session`: the SSL* by which the connection goes; nullptr: it goes without TLS.
  packet_gate(MYSQL* of, void* session) noexcept;
  packet_gate(const packet_gate&) = delete;
  packet_gate& operator=(const packet_gate&) = delete;
  ~packet_gate() = default;

  [[nodiscard]] bool is_shut() const noexcept { return wanted() > let_in_; }
  [[nodiscard]] std::size_t wanted() const noexcept { return of_->net.max_packet; }
  void let_in() noexcept { let_in_ = wanted(); }
  /// The packet is not let in any more: reads fail where the gate is shut, so that the call ends.
  void give_up() noexcept { is_given_up_ = true; }
  [[nodiscard]] bool is_given_up() const noexcept { return is_given_up_; }

  [[nodiscard]] bool is_wide() const noexcept { return wanted() > open_bytes; }
  /// No packet is under way, and what lies in the last one is of no use any more. Where it fails,
  /// which an allocator may let it, the room stays as it is.
  void narrow() noexcept;

 private:
  static ssize_t read(MARIADB_PVIO* way, unsigned char* buffer, std::size_t length);
  using reader = ssize_t (*)(MARIADB_PVIO*, unsigned char*, std::size_t);
  /// Of calls that do not wait; nullptr: the library has none, as from Connector/C 3.4 on.
  template <class Methods>
  [[nodiscard]] static reader* reader_of(Methods& methods) noexcept {
    if constexpr (requires { methods.async_read; })
      return &methods.async_read;
    else
      return nullptr;
  }

  PVIO_METHODS methods_;  // first: the library knows the gate by it
  reader read_ = nullptr;
  MYSQL* of_;
  std::size_t let_in_ = open_bytes;
  bool is_given_up_ = false;
};

}  // namespace weft::store::mysql
