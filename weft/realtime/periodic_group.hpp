// The periodic tasks of one loop: who of those that are released runs first, and what all of them
// want. Internal to the layer.
//
// Problem: of two releases that are due together, the one with the nearer deadline is to run first,
// and a third that comes meanwhile may be nearer still. Contract: released tasks wait in a line by
// deadline, and of equals the first to come; one is resumed a turn of the loop's most urgent band,
// so that the line is asked each time. A task whose release was due before its run had ended is
// held back until the end of the turn: however much they want, what else the loop has gets its
// turns. A group lives from its first member to its last. One thread.
#pragma once

#include <cstddef>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/piece_watch.hpp>
#include <weft/realtime/queue_wait.hpp>

namespace weft::realtime {

class periodic;
class periodic_group;

/// A task that waits for its release, or to be resumed after it, in the frame of the task.
struct released_task {
  using function = void (*)(released_task&) noexcept;
  released_task(function arms, function resumes) noexcept : arm{arms}, resume{resumes} {}
  function arm;
  function resume;
  time_point due{};
  time_point deadline{};
  list_hook hook;

 protected:
  ~released_task() = default;
};

/// What a periodic is in its loop's group by, for as long as it lives.
struct periodic_member {
  periodic_member(event_loop& loop, const periodic& whose);
  ~periodic_member();
  const periodic& task;
  list_hook hook;
  periodic_group& group;  // last: what joins it is whole
};

class periodic_group final : private runnable, private flushable {
 public:
  /// That of `loop`, made for its first member.
  [[nodiscard]] static periodic_group& join(event_loop& loop, periodic_member& member);
  /// nullptr: `loop` has no periodic tasks.
  [[nodiscard]] static periodic_group* find(const event_loop& loop) noexcept;
  void leave(periodic_member& member) noexcept;

  /// Arms it at the end of the loop's turn.
  void hold_back(released_task& task) noexcept;
  /// O(n) of those that are released and have not run.
  void release(released_task& task) noexcept;

  /// What ran on the loop since the first of those that are released was due.
  [[nodiscard]] const piece_watch& pieces() const noexcept { return pieces_; }
  /// Of the loop's thread.
  [[nodiscard]] const queue_wait& queue() const noexcept { return queue_; }

  /// Has it looked at what they want at the end of the loop's turn, until once it was said that
  /// this is more than there is.
  void look_at_utilisation() noexcept;
  void note_warned() noexcept { has_warned_ = true; }

  template <class F>
  void for_each(F see) {
    for (const periodic_member& each : members_) see(each.task);
  }

  explicit periodic_group(event_loop& loop) noexcept;
  periodic_group(const periodic_group&) = delete;
  periodic_group& operator=(const periodic_group&) = delete;
  ~periodic_group();

 private:
  static void on_run(runnable& self) noexcept;
  static void on_turn_end(flushable& self) noexcept;

  event_loop& loop_;
  queue_wait queue_;
  piece_watch pieces_;
  bool has_warned_ = false;
  bool is_to_look_ = false;
  intrusive_list<periodic_member, &periodic_member::hook> members_;
  intrusive_list<released_task, &released_task::hook> held_;
  intrusive_list<released_task, &released_task::hook> line_;  // the nearest deadline first
};

}  // namespace weft::realtime
