#include <weft/loop/memory_share.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {
namespace {

constexpr std::size_t slice_bytes = memory_budget::slice_bytes;

/// How often those in line try again: another shard may have given something back.
constexpr duration retry_interval = std::chrono::milliseconds{10};
/// Less is not worth a connection.
constexpr std::size_t dropped_least_bytes = 1024;

constexpr std::size_t in_slices(std::size_t size_bytes) noexcept {
  return (size_bytes + slice_bytes - 1) / slice_bytes * slice_bytes;
}

}  // namespace

void memory_reservation::shrink(std::size_t size_bytes) noexcept {
  if (size_bytes >= bytes_) return;
  share_->remove(kind_, bytes_ - size_bytes);
  bytes_ = size_bytes;
}

memory_reservation memory_reservation::split(std::size_t size_bytes, memory_kind as) noexcept {
  if (share_ == nullptr) return {};
  const std::size_t given = std::min(size_bytes, bytes_);
  share_->move(kind_, as, given);
  bytes_ -= given;
  return {*share_, as, given};
}

void memory_reservation::join(memory_reservation more) noexcept {
  if (!*this) {
    *this = std::move(more);
    return;
  }
  if (!more) return;
  WEFT_ASSERT(share_ == more.share_, "what a shard has reserved stays with it");
  share_->move(more.kind_, kind_, more.bytes_);
  bytes_ += std::exchange(more.bytes_, 0);
}

memory_share::memory_share(memory_budget& budget, event_loop& loop)
    : runnable{&on_asked}, timer{retry_kind}, budget_{budget}, loop_{loop} {
  budget_.join(*this);
}

memory_share::~memory_share() {
  WEFT_DEBUG_ASSERT(used_ == 0, "what a shard has reserved is given back before it ends");
  leave();
  budget_.give_back(drawn_);
}

void memory_share::leave() noexcept {
  if (std::exchange(has_left_, true)) return;
  budget_.leave(*this);
  loop_.timers().disarm(*this);
}

memory_gauges memory_share::gauges() const noexcept {
  memory_gauges all{
      .waits = waits_.get(), .refused = refused_.get(), .dropped_peers = dropped_.get()};
  for (std::size_t i = 0; i < memory_kinds; ++i) all.bytes[i] = in_use_[i].get();
  return all;
}

/// A pool of buffers keeps the most that it has had.
std::size_t memory_share::permanent_bytes() const noexcept {
  const std::size_t buffers = in_use_[std::to_underlying(memory_kind::buffers)].get();
  const std::size_t caches = in_use_[std::to_underlying(memory_kind::caches)].get();
  return in_slices(caches + buffers);
}

void memory_share::draw_anyway() noexcept {
  const std::size_t more = in_slices(used_ - drawn_);
  budget_.take_anyway(more);
  drawn_ += more;
  if (budget_.taken() > budget_.limit()) budget_.ask_for_relief(budget_.limit());
}

void memory_share::give_back() noexcept {
  give_back_but(spare_most_ > slice_bytes ? slice_bytes : 0);
  serve_lines();
}

void memory_share::give_back_but(std::size_t kept_bytes) noexcept {
  const std::size_t spare = (drawn_ - used_) / slice_bytes * slice_bytes;
  if (spare <= kept_bytes) return;
  drawn_ -= spare - kept_bytes;
  budget_.give_back(spare - kept_bytes);
}

// ---- who waits --------------------------------------------------------------------------------

bool memory_share::take(std::size_t size_bytes, memory_priority as) noexcept {
  if (const std::size_t after = used_ + size_bytes; after > drawn_) {
    const std::size_t more = in_slices(after - drawn_);
    if (!budget_.take(more, as)) return false;
    drawn_ += more;
  } else if (is_short(as)) {
    return false;
  }
  used_ += size_bytes;
  return true;
}

bool memory_share::others_wait(memory_priority as) noexcept {
  for (std::size_t i = std::to_underlying(as); i < memory_priorities; ++i)
    if (!lines_[i].empty()) return true;
  return false;
}

memory_reservation memory_share::try_reserve(memory_kind kind, std::size_t size_bytes,
                                             memory_priority as) noexcept {
  if (!may_ever_have(size_bytes, as) || others_wait(as) || !take(size_bytes, as)) return {};
  in_use_[std::to_underlying(kind)].add(size_bytes);
  return {*this, kind, size_bytes};
}

memory_share::reserve_wait memory_share::reserve(memory_kind kind, std::size_t size_bytes,
                                                 memory_priority as) noexcept {
  return {*this, kind, size_bytes, as};
}

wait_line& memory_share::reserve_wait::line() noexcept {
  share_.waits_.add(1);
  share_.spare_most_ = 1;  // what is given back is looked at at once
  share_.try_again_soon();
  return share_.lines_[std::to_underlying(priority_)];
}

bool memory_share::reserve_wait::take() noexcept {
  if (!share_.may_ever_have(bytes_, priority_)) {
    answer(fail(errc::limit_exceeded));
    return true;
  }
  has_bytes_ = !share_.others_wait(priority_) && share_.take(bytes_, priority_);
  return has_bytes_;
}

result<memory_reservation> memory_share::reserve_wait::await_resume() noexcept {
  if (!has_bytes_) {
    share_.refused_.add(1);
    // Who has given up may have wished for more than those behind it do.
    share_.serve_lines();
    return fail(outcome().error());
  }
  share_.in_use_[std::to_underlying(kind_)].add(bytes_);
  return memory_reservation{share_, kind_, bytes_};
}

memory_share::reserve_wait* memory_share::first_in_line() noexcept {
  for (std::size_t i = memory_priorities; i-- > 0;)
    if (waiter* const first = lines_[i].front()) return static_cast<reserve_wait*>(first);
  return nullptr;
}

void memory_share::serve_lines() noexcept {
  while (reserve_wait* const first = first_in_line()) {
    if (!take(first->bytes_, first->priority_)) return;
    first->has_bytes_ = true;
    first->wake();
  }
  spare_most_ = 2 * slice_bytes;
  // Beyond the limit on_retry() has relief to ask for, though nobody waits.
  if (timer::armed() && budget_.taken() <= budget_.limit()) loop_.timers().disarm(*this);
}

void memory_share::try_again_soon() noexcept {
  if (!timer::armed()) loop_.timers().arm(*this, loop_.now() + retry_interval);
}

/// Another shard may have given something back, and what was dropped may not have been enough.
void memory_share::on_retry(timer& self) noexcept {
  auto& share = static_cast<memory_share&>(self);
  share.serve_lines();
  memory_budget& budget = share.budget_;
  if (const reserve_wait* const first = share.first_in_line()) {
    budget.ask_for_relief(budget.ceiling(first->priority_) - first->bytes_);
    share.try_again_soon();
  } else if (budget.taken() > budget.limit()) {
    budget.ask_for_relief(budget.limit());
  }
}

// ---- who is dropped ---------------------------------------------------------------------------

void memory_share::note_stalled(slow_peer& who, const slow_peer_kind& kind) noexcept {
  who.since_ = loop_.now();
  who.kind_ = &kind;
  slow_.push_back(who);
}

void memory_share::ask_for_relief(std::size_t target_bytes) noexcept {
  std::size_t before = asked_target_.load();
  while (target_bytes < before && !asked_target_.compare_exchange_weak(before, target_bytes)) {}
  if (!is_asked_.exchange(true)) loop_.post(*this);
}

void memory_share::on_asked(runnable& self) noexcept {
  auto& share = static_cast<memory_share&>(self);
  share.is_asked_.store(false);
  share.relieve(share.asked_target_.exchange(memory_budget::unlimited));
}

/// Who has waited longest comes first. Beyond the limit anybody may have to go, within it only
/// those who have taken nothing for long.
void memory_share::relieve(std::size_t target_bytes) noexcept {
  give_back_but(0);
  const time_point now = loop_.now();
  const std::size_t limit = budget_.limit();
  std::size_t left = budget_.taken();
  if (left > limit && !slow_.empty()) try_again_soon();
  if (relieved_at_ != time_point::min() && now - relieved_at_ < slow_peer::freed_within) return;
  const std::size_t before = left;
  for (auto next = slow_.begin(); next != slow_.end() && left > target_bytes;) {
    slow_peer& who = *next++;
    if (left <= limit && now - who.since_ < slow_peer::slow_after) break;
    const std::size_t held = who.kind_->held_bytes(who);
    if (held < dropped_least_bytes) continue;
    left -= std::min(left, held);
    drop(who);
  }
  if (left > target_bytes) {
    const std::size_t freed = connections_.relieve(left - target_bytes);
    if (freed != 0) relieved_at_ = now;
    left -= std::min(left, freed);
  }
  // What is held for others may be elsewhere: by a handler that waits for them to take something.
  slow_peer* const first = slow_.front();
  if (left == before && left > target_bytes && first != nullptr &&
      now - first->since_ >= slow_peer::slow_after)
    drop(*first);
}

time_point memory_share::now() const noexcept { return loop_.now(); }

void memory_share::drop(slow_peer& who) noexcept {
  note_progress(who);
  note_dropped();
  relieved_at_ = loop_.now();
  who.kind_->drop(who);
}

task<result<memory_reservation>> reserve_memory(memory_share& from, memory_kind kind,
                                                std::size_t size_bytes, memory_priority as) {
  co_return co_await from.reserve(kind, size_bytes, as);
}

}  // namespace weft
