// How long the writer of a database waits for a lock that another program holds.
//
// Problem: SQLite's busy timeout starts again with each transaction, and nothing can cancel it. Of
// many writes that wait for the same lock, the last would wait for all timeouts before its own.
// Contract: attach() replaces the busy timeout of a connection. Between begin() and end(), the wait
// ends with SQLITE_BUSY when the youngest of the batches has waited `most` for a lock that is held,
// or when all batches have been cancelled. Otherwise each call waits `most`. note_free() reports
// that the lock was acquired. The writer's thread; outlives the connection.
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
  std::optional<time_point> held_since_;  // when the lock was first found to be held
};

}  // namespace weft::store::sqlite
