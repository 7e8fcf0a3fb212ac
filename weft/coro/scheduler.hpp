// Whoever runs what has become ready, and keeps time for what waits: the event loop, or a test.
//
// Contract: what is scheduled is run from the loop, in its turn, never from inside of schedule().
// That costs a coroutine that hands over to another one no more than the links, so it is no virtual
// call. One shard; nothing here is thread safe, which debug builds check where work comes in.
//
//   environment_.runs_on->schedule(*joiner, priority::normal);
#pragma once

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/ready_queue.hpp>
#include <weft/coro/runnable.hpp>

namespace weft {

class timer;

/// How a scheduler knows a scope whose tasks it runs.
struct scope_registration {
  list_hook hook;

 protected:
  scope_registration() noexcept = default;
  ~scope_registration() = default;
};

class scheduler {
 public:
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Queues `item` in its band; it must not be queued yet.
  void schedule(runnable& item, priority band = priority::normal) noexcept {
    expect_here("schedule()");
    ready_.push(item, band);
  }

  [[nodiscard]] bool has_ready(priority band) const noexcept { return ready_.has(band); }

  /// The time this turn began.
  [[nodiscard]] virtual time_point now() const noexcept = 0;
  /// Has `t`, which must not be armed, fire at `when` or soon after, from the loop; a time in the
  /// past fires in the next turn.
  virtual void arm(timer& t, time_point when) noexcept = 0;
  /// Does nothing for a timer that is not armed.
  virtual void disarm(timer& t) noexcept = 0;

  /// The scopes whose tasks run here, for whoever lists them; each takes itself out.
  void enlist(scope_registration& added) noexcept { scopes_.push_back(added); }
  [[nodiscard]] auto& scopes() noexcept { return scopes_; }

  virtual ~scheduler() = default;

 protected:
  scheduler() noexcept = default;

  void expect_here([[maybe_unused]] const char* call) const noexcept {
#ifndef NDEBUG
    check_here(call);
#endif
  }
  /// Asserts that `call` may be made on this thread.
  virtual void check_here(const char* call) const noexcept = 0;

  ready_queue ready_;

 private:
  intrusive_list<scope_registration, &scope_registration::hook> scopes_;
};

}  // namespace weft
