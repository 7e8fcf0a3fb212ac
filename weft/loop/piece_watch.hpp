// What keeps a loop, piece by piece, while somebody's time has come.
//
// Problem: "others ran" helps nobody: it may be one long task, or many short ones, or what the loop
// does itself. Contract: the loop that is told to (event_loop::watch_pieces()) says when each piece
// ends, which costs it a look at the clock for each. Kept is what happened since the next timer was
// due: a piece counts from then on. Who has something that was due, and has not run yet, holds what
// is kept. One thread; the watch outlives its being told.
//
//   loop.watch_pieces(&watch);
//   watch.hold(true);   // a release was due
//   watch.hold(false);  // and runs
//   if (watch.longest().lasted > limit) blame(describe(watch.longest()));
#pragma once

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>

#include <weft/base/time.hpp>

namespace weft {

enum class piece_kind : std::uint8_t {
  task,      // a coroutine, until it waits
  callback,  // of whoever is no coroutine
  mail,      // functions and messages from elsewhere
  timers,
  io,  // writes, and a look at the kernel that did not wait
};

struct loop_piece {
  /// Since something was due.
  duration lasted{};
  time_point ended{};
  piece_kind kind = piece_kind::callback;
  /// Of a task: where it was resumed.
  std::source_location resumed_at{};
};

/// For people; allocates.
[[nodiscard]] std::string describe(const loop_piece& piece);

class piece_watch {
 public:
  [[nodiscard]] const loop_piece& longest() const noexcept { return longest_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  void hold(bool held) noexcept { is_held_ = held; }
  /// Something will be armed late: it is due at `when`, of which the loop's timers do not know yet.
  void expect(time_point when) noexcept { expected_ = std::min(expected_, when); }
  /// They do now.
  void expect_nothing() noexcept { expected_ = time_point::max(); }

  // What the loop says.

  /// When the last piece ended, and the next one began.
  [[nodiscard]] time_point begun() const noexcept { return begun_; }
  /// The time until now was nobody's.
  void skip(time_point now) noexcept { begun_ = now; }
  /// What has run since the last call has ended, and `next_due` is when a timer is due, or was.
  void end(time_point now, time_point next_due, piece_kind kind,
           const std::source_location& resumed_at = {}) noexcept;
  /// Something else begins then: if nothing is due, what was before it does not matter.
  void begin(time_point next_due) noexcept;

 private:
  loop_piece longest_{};
  std::uint64_t count_ = 0;
  time_point due_ = time_point::max();
  time_point expected_ = time_point::max();
  time_point begun_{};
  bool is_held_ = false;
};

}  // namespace weft
