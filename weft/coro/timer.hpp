// What a scheduler wakes at a certain time: a link and a function, embedded in what is to be woken,
// so that arming never allocates.
//
// Contract: armed and disarmed by a scheduler (or by the timer_wheel that it keeps), in one of them
// at a time; stays where it is while armed and is disarmed before it ends. `on_expiry` is called
// once for each time it was armed, when the timer is no longer armed, and may arm it again. One
// shard; not thread safe.
//
//   struct give_up : timer {
//     give_up() : timer{&on_timer} {}
//     static void on_timer(timer& self) noexcept { ... }
//   };
//   scheduler.arm(my_give_up, scheduler.now() + std::chrono::seconds{5});
#pragma once

#include <cstdint>

#include <weft/base/intrusive_list.hpp>

namespace weft {

class timer {
 public:
  using function = void (*)(timer&) noexcept;

  explicit timer(function on_expiry) noexcept : on_expiry_{on_expiry} {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  [[nodiscard]] bool armed() const noexcept { return hook.is_linked(); }

  list_hook hook;

 protected:
  ~timer() = default;

 private:
  // Whoever keeps time: the ticks are its own, and so is the place.
  friend class manual_scheduler;
  friend class timer_wheel;
  function on_expiry_;
  std::uint64_t expiry_tick_ = 0;
  std::uint8_t level_ = 0;
  std::uint8_t slot_ = 0;
};

}  // namespace weft
