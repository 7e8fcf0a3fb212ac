// How long the writer of a database waits for a lock that another program holds.
//
// Problem: SQLite's own timeout counts anew for each transaction, so that of writes which wait for
// the same lock the last waits as often as there are transactions before it, and nobody can call it
// off. Contract: attach() has a connection wait by these rules. Batches wait until the youngest of
// them has waited `most` for a lock that is held, or until all of them are given up; SQLite is then
// told that it is busy. Without batches each call waits `most`. note_free() says that the lock was
// had. The writer's thread; outlives the connection.
//
//   lock_wait patience{options.busy_timeout};
//   patience.attach(connection.get());
//   patience.begin(batches); ... patience.end();
#pragma once

#include <optional>
#include <span>

#include <sqlite3.h>

#include <weft/base/time.hpp>
#include <weft/store/sqlite/queued_write.hpp>

namespace weft::store::sqlite {

class lock_wait {
 public:
  explicit lock_wait(duration most) noexcept : most_{most} {}

  void attach(sqlite3* to) noexcept { sqlite3_busy_handler(to, &on_busy, this); }

  void begin(std::span<queued_write* const> batches) noexcept { batches_ = batches; }
  void end() noexcept { batches_ = {}; }
  void note_free() noexcept { held_since_.reset(); }

 private:
  static int on_busy(void* self, int tries) noexcept;
  [[nodiscard]] bool waits(int tries) noexcept;
  [[nodiscard]] time_point youngest() const noexcept;

  duration most_;
  std::span<queued_write* const> batches_;
  std::optional<time_point> held_since_;  // as far as anybody has seen
};

}  // namespace weft::store::sqlite
