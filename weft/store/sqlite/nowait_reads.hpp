// Reads of SQLite that never wait for a disk.
//
// Problem: a page that is not in memory takes a disk's time, and a shard that waits for it serves
// nobody. Contract: while an object of this lives, SQLite's reads of files on this thread are
// preadv2(2) with RWF_NOWAIT: a page that the system does not have in memory fails as an error of
// input, would_block() is true from then on, and the statement is to be run again on a thread that
// may wait. Where the file system cannot say (EOPNOTSUPP), `blind` decides. Needs the VFS "unix" of
// this process's SQLite, one of whose system calls it stands in for.
//
//   nowait_reads here{blind_reads::wait};
//   int code = sqlite3_step(statement);
//   if (here.would_block()) ...
#pragma once

#include <cstdint>

namespace weft::store::sqlite {

/// What becomes of a read from a file system that does not know RWF_NOWAIT (tmpfs before Linux 6.6,
/// some network file systems), or where a policy refuses preadv2(2).
enum class blind_reads : std::uint8_t {
  wait,     // is made, on the shard
  readers,  // goes to the reader threads
};

class [[nodiscard]] nowait_reads {
 public:
  explicit nowait_reads(blind_reads blind) noexcept;
  nowait_reads(const nowait_reads&) = delete;
  nowait_reads& operator=(const nowait_reads&) = delete;
  ~nowait_reads();

  [[nodiscard]] bool would_block() const noexcept;
  /// From now on as if nothing had been missing.
  void forget() noexcept;

  /// Whether any thread has met a file system that cannot say.
  [[nodiscard]] static bool has_been_blind() noexcept;
  /// Whether the system refuses preadv2(2), so that no file system can say.
  [[nodiscard]] static bool are_refused() noexcept;

  /// Puts itself in the place of the system call. False: this SQLite does not let it, and reads
  /// wait.
  static bool install() noexcept;
};

}  // namespace weft::store::sqlite
