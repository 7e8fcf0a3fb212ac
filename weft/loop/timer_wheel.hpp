// Many timers, few of which ever fire: connections arm and disarm them all day.
//
// Contract: arming and disarming cost O(1) and never allocate; a timer is embedded in what it is
// for. Six levels of 64 slots with a tick of one millisecond reach two years ahead; what lies
// beyond is looked at again on the way. A timer fires at its time or up to a tick after, never
// before. Timers of the same tick, within the reach, fire in the order in which they were armed.
// The design is Varghese and Lauck's hierarchical wheel (1987, scheme 6),
// with a bitmap a level to find the next slot. The few that must not wait for a tick's end are
// armed exactly: to the nanosecond, in a line in which each looks for its place.
// One shard; not thread safe.
//
//   timer give_up{&on_give_up};
//   wheel.arm(give_up, now + std::chrono::seconds{5});
//   wheel.arm_exactly(next_period, due);
//   wheel.disarm(give_up);
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/timer.hpp>

namespace weft {

class timer_wheel {
 public:
  explicit timer_wheel(time_point start) noexcept : start_{start} {}
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  /// Arms `t`, which must not be armed, to fire at `when`; a time in the past fires at the next
  /// advance.
  void arm(timer& t, time_point when) noexcept;

  /// As arm(), but to fire no later than the first advance from `when` on, before those of the same
  /// time that are armed by the tick. O(n) of those armed so that are due before it.
  void arm_exactly(timer& t, time_point when) noexcept;

  /// Does nothing for a timer that is not armed.
  void disarm(timer& t) noexcept;

  /// Fires what is due at `now`, at most `limit` timers. Returns how many fired; what is left is
  /// due at the next call.
  unsigned advance(time_point now, unsigned limit) noexcept {
    if (now >= next_due()) [[unlikely]]
      return fire(now, limit);
    quiet_until_ = now;
    return 0;
  }

  /// When to call advance() next: no later than the next expiry, perhaps earlier. max() if no timer
  /// is armed. Looked up once for each change, since it is asked for twice a turn.
  [[nodiscard]] time_point next_due() noexcept {
    if (!is_due_known_) [[unlikely]]
      find_next_due();
    return next_due_;
  }

  [[nodiscard]] std::size_t armed_count() const noexcept { return armed_count_; }
  [[nodiscard]] bool has_exact() const noexcept { return !exact_.empty(); }
  /// Calls `see` with each armed timer and the tick it is due at, in no order: for reports.
  template <class F>
  void for_each(F see) {
    for (const timer& each : exact_) see(each, due_of_exact(each));
    for (auto& level : wheel_)
      for (slot_list& slot : level)
        for (const timer& each : slot)
          see(each, start_ + tick_length * static_cast<duration::rep>(each.expiry_tick_));
  }

 private:
  static constexpr unsigned bits = 6;
  static constexpr unsigned levels = 6;
  static constexpr unsigned slots = 1U << bits;
  using slot_list = intrusive_list<timer, &timer::hook>;

  struct position {
    unsigned level;
    unsigned slot;
    std::uint64_t tick;
  };

  static constexpr duration tick_length = std::chrono::milliseconds{1};
  /// The level of those that are armed exactly, whose tick is a nanosecond.
  static constexpr std::uint8_t exact_level = levels;

  /// Whole ticks from the start to `when`.
  [[nodiscard]] std::uint64_t ticks_until(time_point when) const noexcept {
    return when <= start_ ? 0 : static_cast<std::uint64_t>((when - start_) / tick_length);
  }
  [[nodiscard]] std::uint64_t tick_at_or_after(time_point when) const noexcept;
  [[nodiscard]] time_point due_of_exact(const timer& t) const noexcept {
    return start_ + duration{static_cast<duration::rep>(t.expiry_tick_)};
  }
  [[nodiscard]] bool next_slot(position& next) const noexcept;
  void place(timer& t) noexcept;
  void remove(timer& t) noexcept;
  void cascade(const position& from) noexcept;
  [[nodiscard]] timer* next_due_at(time_point now, std::uint64_t now_tick) noexcept;
  [[gnu::noinline]] void find_next_due() noexcept;
  [[gnu::noinline]] unsigned fire(time_point now, unsigned limit) noexcept;

  time_point start_;
  time_point quiet_until_ = start_;  // nothing was due when this was last the time
  time_point next_due_ = time_point::max();
  bool is_due_known_ = true;  // whether next_due_ is up to date
  std::uint64_t tick_ = 0;
  std::size_t armed_count_ = 0;
  std::array<std::uint64_t, levels> occupied_{};
  std::array<std::array<slot_list, slots>, levels> wheel_;
  slot_list exact_;  // the earliest first
};

}  // namespace weft
