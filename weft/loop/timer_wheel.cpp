#include <weft/loop/timer_wheel.hpp>

#include <algorithm>
#include <bit>

#include <weft/base/assert.hpp>

namespace weft {

std::uint64_t timer_wheel::tick_at_or_after(time_point when) const noexcept {
  if (when <= start_) return 0;
  const auto ahead = static_cast<std::uint64_t>((when - start_).count());
  const auto length = static_cast<std::uint64_t>(tick_length.count());
  return ahead / length + (ahead % length != 0 ? 1 : 0);
}

void timer_wheel::arm(timer& t, time_point when) noexcept {
  WEFT_DEBUG_ASSERT(!t.armed(), "a timer is armed once at a time");
  tick_ = std::max(tick_, ticks_until(quiet_until_));
  t.expiry_tick_ = std::max(tick_at_or_after(when), tick_);
  place(t);
  ++armed_count_;
}

void timer_wheel::arm_exactly(timer& t, time_point when) noexcept {
  WEFT_DEBUG_ASSERT(!t.armed(), "a timer is armed once at a time");
  t.expiry_tick_ = static_cast<std::uint64_t>((std::max(when, start_) - start_).count());
  t.level_ = exact_level;
  exact_.insert(std::ranges::find_if(
                    exact_, [&](const timer& each) { return each.expiry_tick_ > t.expiry_tick_; }),
                t);
  is_due_known_ = false;
  ++armed_count_;
}

void timer_wheel::disarm(timer& t) noexcept {
  if (!t.armed()) return;
  remove(t);
  --armed_count_;
}

void timer_wheel::place(timer& t) noexcept {
  // What lies beyond the wheel's reach waits in its farthest slot, and is placed anew from there.
  constexpr std::uint64_t reach = std::uint64_t{slots - 1} << (bits * (levels - 1));
  const std::uint64_t tick = std::min(t.expiry_tick_, tick_ + reach);
  // The level is that of the highest bit in which the tick differs from now: the slot is then never
  // the current one.
  const std::uint64_t differing = tick ^ tick_;
  const unsigned highest =
      differing == 0 ? 0 : static_cast<unsigned>(std::bit_width(differing)) - 1;
  const unsigned level = std::min(highest / bits, levels - 1);
  const auto slot = static_cast<unsigned>((tick >> (level * bits)) % slots);
  t.level_ = static_cast<std::uint8_t>(level);
  t.slot_ = static_cast<std::uint8_t>(slot);
  wheel_[level][slot].push_back(t);
  occupied_[level] |= std::uint64_t{1} << slot;
  is_due_known_ = false;
}

void timer_wheel::remove(timer& t) noexcept {
  if (t.level_ == exact_level) {
    exact_.erase(t);
    is_due_known_ = false;
    return;
  }
  slot_list& list = wheel_[t.level_][t.slot_];
  list.erase(t);
  if (!list.empty()) return;
  occupied_[t.level_] &= ~(std::uint64_t{1} << t.slot_);
  is_due_known_ = false;
}

bool timer_wheel::next_slot(position& next) const noexcept {
  for (unsigned level = 0; level < levels; ++level) {
    if (occupied_[level] == 0) continue;
    const unsigned shift = level * bits;
    const auto current = static_cast<unsigned>((tick_ >> shift) % slots);
    const auto ahead = static_cast<unsigned>(
        std::countr_zero(std::rotr(occupied_[level], static_cast<int>(current))));
    const std::uint64_t round = (tick_ >> shift) + ahead;
    next = {
        .level = level, .slot = (current + ahead) % slots, .tick = std::max(round << shift, tick_)};
    return true;
  }
  return false;
}

void timer_wheel::cascade(const position& from) noexcept {
  slot_list& list = wheel_[from.level][from.slot];
  slot_list moving;
  moving.splice_back(list);
  occupied_[from.level] &= ~(std::uint64_t{1} << from.slot);
  while (!moving.empty()) place(*moving.pop_front());
}

/// The first that is due at `now`; nullptr: none is, and the wheel stands there.
timer* timer_wheel::next_due_at(time_point now, std::uint64_t now_tick) noexcept {
  if (timer* const first = exact_.front(); first != nullptr && due_of_exact(*first) <= now)
    return first;
  position next{};
  while (next_slot(next) && next.tick <= now_tick) {
    tick_ = next.tick;
    if (next.level == 0) return wheel_[0][next.slot].front();
    cascade(next);
  }
  tick_ = std::max(tick_, now_tick);
  return nullptr;
}

unsigned timer_wheel::fire(time_point now, unsigned limit) noexcept {
  const std::uint64_t now_tick = ticks_until(now);
  unsigned fired = 0;
  while (timer* const due = next_due_at(now, now_tick)) {
    if (fired == limit) return fired;
    disarm(*due);
    ++fired;
    due->kind().on_expiry(*due);
  }
  return fired;
}

void timer_wheel::find_next_due() noexcept {
  is_due_known_ = true;
  next_due_ = exact_.empty() ? time_point::max() : due_of_exact(*exact_.front());
  position next{};
  if (!next_slot(next)) return;
  const auto tick = static_cast<duration::rep>(next.tick);
  const auto last = (time_point::max() - start_) / tick_length;
  if (tick <= last) next_due_ = std::min(next_due_, start_ + tick_length * tick);
}

}  // namespace weft
