// What a shard's connections hold beside their requests, and which of them go if that is too much.
//
// Problem: a TLS connection holds 16 KiB while nothing is asked on it, and four times that during
// its handshake. Strangers open as many as they like. Contract: all connections of a process hold
// at most a quarter of its memory budget, and up to half while others leave that much, divided
// evenly among its shards. admit() takes memory before it is used; where there is no room, the
// newcomer is to be closed. Each newcomer makes those leave that have been in line for 500 ms or
// longer: above a quarter, those that have begun something and not finished it (a handshake, a
// record); while the silent alone hold three quarters of that quarter, those. In each line, whoever
// has waited longest leaves first. So clients that talk keep their connections, and newcomers get
// in soon. Allocates nothing. One shard.
//
//   auto memory = share.connections().admit(20 * 1024);
//   if (!memory) co_return fail(errc::limit_exceeded);
//   share.connections().note_silent(*this, kind, memory.bytes());
//   share.connections().note_talks(*this, memory.bytes());   // something has come
#pragma once

#include <cstddef>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>
#include <weft/loop/slow_peer.hpp>

namespace weft {

class memory_reservation;
class memory_share;

class connection_memory {
 public:
  explicit connection_memory(memory_share& of) noexcept : all_{of} {}

  /// Of a newcomer. Empty: there is no room.
  [[nodiscard]] memory_reservation admit(std::size_t size_bytes) noexcept;
  /// So much more, for what it begins. False: there is no room, and nothing was taken.
  [[nodiscard]] bool admit(memory_reservation& to, std::size_t more_bytes) noexcept;
  /// So much more, which is in memory already. If that is too much, the unfinished leave, however
  /// short they have waited.
  void grow(memory_reservation& of, std::size_t more_bytes) noexcept;

  /// `who` has begun something that only its other end can finish; not in a line yet.
  void note_unfinished(slow_peer& who, const slow_peer_kind& kind) noexcept;
  /// Nothing comes of `who`, from now on; not in a line yet. While its kind says that it holds
  /// nothing it stays: others work for it.
  void note_silent(slow_peer& who, const slow_peer_kind& kind, std::size_t held_bytes) noexcept;
  /// Take `who` out of the one line, and of the other.
  void note_finished(slow_peer& who) noexcept { who.in_line_.unlink(); }
  void note_talks(slow_peer& who, std::size_t held_bytes) noexcept;

  /// Others need memory: drops who has been in line for long, the silent only while they
  /// hold more than their part. Gives how many bytes that frees soon.
  std::size_t relieve(std::size_t wanted_bytes) noexcept;

  /// What they may hold on this shard.
  [[nodiscard]] std::size_t most_bytes() const noexcept;

 private:
  using peers = intrusive_list<slow_peer, &slow_peer::in_line_>;

  [[nodiscard]] std::size_t held_bytes() const noexcept;
  [[nodiscard]] std::size_t silent_most_bytes() const noexcept;
  [[nodiscard]] bool has_room(std::size_t more_bytes) const noexcept;
  [[nodiscard]] bool exceeds(std::size_t bound_bytes, std::size_t more_bytes) noexcept;
  void make_room(std::size_t more_bytes) noexcept;
  std::size_t drop_unfinished(duration waited_least) noexcept;
  std::size_t drop_silent() noexcept;
  std::size_t drop(slow_peer& who) noexcept;

  memory_share& all_;
  peers unfinished_, silent_;
  std::size_t silent_bytes_ = 0;
  std::size_t leaving_bytes_ = 0;  // of those dropped at dropped_at_ or just before
  time_point dropped_at_ = time_point::min();
};

}  // namespace weft
