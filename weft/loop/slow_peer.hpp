// Somebody at the other end who takes nothing of what is held for them.
//
// Contract: internal to the layers that send. Stands in its shard's line (memory_share.hpp) while
// it takes nothing, whoever has waited longest in front; it leaves the line before it ends. Not
// written to before it stands there, so that peers that are never slow pay nothing. One shard.
//
//   share.note_stalled(*this, kind, loop.now());
//   share.note_progress(*this);
#pragma once

#include <chrono>
#include <cstddef>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>

namespace weft {

class slow_peer;

struct slow_peer_kind {
  /// What would be freed, in bytes.
  std::size_t (*held_bytes)(slow_peer&) noexcept;
  /// Ends the connection; what it holds is freed soon. The peer has left the line before, and takes
  /// no other out of it.
  void (*drop)(slow_peer&) noexcept;
};

class slow_peer {
 public:
  /// Who is dropped so that others need not wait has been in line for so long.
  static constexpr duration slow_after = std::chrono::milliseconds{500};
  /// What was dropped is freed once the kernel has let go of it; until then it counts.
  static constexpr duration freed_within = std::chrono::milliseconds{5};

  slow_peer() noexcept {}  // NOLINT(modernize-use-equals-default): `{}` would write zeroes
  slow_peer(const slow_peer&) = delete;
  slow_peer& operator=(const slow_peer&) = delete;

 private:
  friend class connection_memory;
  friend class memory_share;
  list_link in_line_;
  time_point since_;
  const slow_peer_kind* kind_;
};

}  // namespace weft
