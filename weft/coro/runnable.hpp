// What waits in a ready queue: a link and a function, embedded in what is to be run, so that
// queueing never allocates.
//
// Contract: a runnable is queued in at most one queue at a time and outlives its stay there. `run`
// is called once per stay, on the shard that owns the queue; it may queue the same runnable again.
// Nothing here is thread safe.
//
//   struct flush : runnable {
//     flush() : runnable{&on_run} {}
//     static void on_run(runnable& self) noexcept { ... }
//   };
//   scheduler.schedule(my_flush);
#pragma once

#include <cstdint>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>

namespace weft {

class timer;

/// Bands of the ready queue, most urgent first. Within a band: first come, or as a seed draws.
enum class priority : std::uint8_t { critical, high, normal, low, idle };
inline constexpr unsigned priority_count = 5;

struct runnable {
  using function = void (*)(runnable&) noexcept;

  explicit runnable(function f) noexcept : run{f} {}
  runnable(const runnable&) = delete;
  runnable& operator=(const runnable&) = delete;

  function run;
  runnable* next = nullptr;

 protected:
  ~runnable() = default;
};

/// How a scheduler knows a scope whose tasks it runs.
struct scope_registration {
  list_hook hook;

 protected:
  scope_registration() noexcept = default;
  ~scope_registration() = default;
};

/// Whoever runs what has become ready, and keeps time for what waits: the event loop, or a test.
class scheduler {
 public:
  /// Queues `item` in its band; it is run from the loop, in its turn, never from inside this call.
  virtual void schedule(runnable& item, priority band) noexcept = 0;

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

 private:
  intrusive_list<scope_registration, &scope_registration::hook> scopes_;
};

}  // namespace weft
