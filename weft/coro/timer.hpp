// What a scheduler wakes at a certain time: a link and a function, embedded in what is to be woken,
// so that arming never allocates.
//
// Contract: armed and disarmed by a scheduler (or by the timer_wheel that it keeps), in one of them
// at a time; stays where it is while armed and is disarmed before it ends. `on_expiry` is called
// once for each time it was armed, when the timer is no longer armed, and may arm it again. One
// shard; not thread safe.
//
//   struct give_up : timer {
//     give_up() : timer{kind} {}
//     static void on_timer(timer& self) noexcept { ... }
//     static constexpr timer_kind kind{.on_expiry = &on_timer, .name = "patience"};
//   };
//   scheduler.arm(my_give_up, scheduler.now() + std::chrono::seconds{5});
#pragma once

#include <coroutine>
#include <cstdint>
#include <string_view>

#include <weft/base/intrusive_list.hpp>

namespace weft {

class timer;

/// What timers of one sort have in common: what they do, and what a report of leaks calls them.
struct timer_kind {
  using function = void (*)(timer&) noexcept;
  using owner_of = std::coroutine_handle<> (*)(const timer&) noexcept;

  function on_expiry;
  std::string_view name;
  owner_of owner = nullptr;  // the coroutine that waits with it; nullptr: none does
};

class timer {
 public:
  /// `kind` lasts as long as the program.
  explicit timer(const timer_kind& kind) noexcept : kind_{&kind} {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  [[nodiscard]] bool armed() const noexcept { return hook.is_linked(); }
  [[nodiscard]] const timer_kind& kind() const noexcept { return *kind_; }

  list_hook hook;

 protected:
  ~timer() = default;

 private:
  // Whoever keeps time: the ticks are its own, and so is the place.
  friend class manual_scheduler;
  friend class timer_wheel;
  const timer_kind* kind_;
  // Set when it is armed: most waits end before they have to be.
  std::uint64_t expiry_tick_;
  std::uint8_t level_;
  std::uint8_t slot_;
};

}  // namespace weft
