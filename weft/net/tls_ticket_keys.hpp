// The keys that session tickets are sealed with.
//
// Problem: whoever has the key of a ticket can read what was said in the sessions it resumes (TLS
// 1.2), so it must not last; and a client may come back to another shard, or after a reload.
// Contract: drawn at random, renewed after `renewed_after`, and until twice that a ticket they
// sealed is still taken; no file has them. Safe on any thread: a lock is held
// for a copy of 112 bytes, once a handshake.
#pragma once

#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>

namespace weft::net {

class tls_ticket_keys {
 public:
  using time = std::chrono::steady_clock::time_point;
  /// Also how long a session can be resumed.
  static constexpr std::chrono::seconds renewed_after = std::chrono::hours{2};
  static constexpr std::size_t name_bytes = 8;

  struct key {
    std::array<unsigned char, name_bytes> name;
    std::array<unsigned char, 32> cipher;
    std::array<unsigned char, 32> mac;
    std::array<unsigned char, 32> mask;  // of what the ticket's name says beside the key's
    time since;
  };

  /// What to seal with at `now`. Nothing: the system gives no random numbers.
  [[nodiscard]] std::optional<key> current(time now);
  /// The one of that name, unless it is too old.
  [[nodiscard]] std::optional<key> find(std::span<const unsigned char, name_bytes> name, time now);

 private:
  std::mutex mutex_;
  std::optional<key> newest_;
  std::optional<key> before_;
};

}  // namespace weft::net
