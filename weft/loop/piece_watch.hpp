// What keeps a loop, piece by piece, while somebody's time has come.
//
// Problem: "others ran" helps nobody: it may be one long task, or many short ones, or what the loop
// does itself. Contract: the loop that is told to (event_loop::watch_pieces()) says when each piece
// ends, which costs it a look at the clock for each. Kept is what happened since the next timer was
// due: a piece counts from then on. Who has something that was due, and has not run yet, holds what
// is kept. Of those that ended one after the other the longest are kept, each with what is longer
// than all that came after it: whoever was due later asks since then. One thread; the watch
// outlives its being told.
//
//   loop.watch_pieces(&watch);
//   watch.hold(true);   // a release was due
//   watch.hold(false);  // and runs
//   if (const auto longest = watch.longest_since(due); longest.lasted > limit) blame(longest);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
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
  /// Which took most of the time since `due`, and how much of it; of no length if none did.
  [[nodiscard]] loop_piece longest_since(time_point due) const noexcept;
  /// How many ended since `due`. Shorter ones just before it may count.
  [[nodiscard]] std::uint64_t count_since(time_point due) const noexcept;
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
  struct kept_piece {
    loop_piece piece;
    std::uint64_t number;  // of the first that ended after the one kept before it
  };
  /// Of the pieces that are each longer than all after them there are few.
  static constexpr std::size_t kept_max = 8;

  /// Of those that ended since `due`; the end: none.
  [[nodiscard]] const kept_piece* first_since(time_point due) const noexcept;
  [[nodiscard]] const kept_piece* end_of_kept() const noexcept {
    return kept_.data() + kept_count_;
  }

  std::array<kept_piece, kept_max> kept_{};  // each shorter than the one before it
  std::size_t kept_count_ = 0;
  std::uint64_t count_ = 0;
  time_point due_ = time_point::max();
  time_point expected_ = time_point::max();
  time_point begun_{};
  bool is_held_ = false;
};

}  // namespace weft
