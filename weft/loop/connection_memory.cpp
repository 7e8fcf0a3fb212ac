#include <weft/loop/connection_memory.hpp>

#include <algorithm>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft {
namespace {

/// A shard of a process with little memory and many shards may serve some, still.
constexpr std::size_t least_bytes = std::size_t{1024} * 1024;
/// For one newcomer, so that accepting many takes no long turn.
constexpr unsigned dropped_at_once = 16;
/// Of those who are not to be dropped just now.
constexpr unsigned looked_at_once = 16;

}  // namespace

std::size_t connection_memory::most_bytes() const noexcept {
  const memory_budget& budget = all_.budget();
  return std::max(budget.limit() / 2 / std::max<std::size_t>(budget.members(), 1), least_bytes);
}

std::size_t connection_memory::held_bytes() const noexcept {
  return all_.in_use(memory_kind::connections);
}

/// Three quarters of the quarter that is theirs in any case, so that newcomers find room in it.
std::size_t connection_memory::silent_most_bytes() const noexcept { return most_bytes() / 8 * 3; }

/// Those who have been told to leave do not count any more, for a moment.
bool connection_memory::exceeds(std::size_t bound_bytes, std::size_t more_bytes) noexcept {
  if (leaving_bytes_ != 0 && all_.now() - dropped_at_ >= slow_peer::freed_within)
    leaving_bytes_ = 0;
  return held_bytes() + more_bytes > bound_bytes + leaving_bytes_;
}

/// A quarter is theirs in any case. Beyond, they take what nobody else has: otherwise newcomers
/// would have readers dropped that are slow for a moment.
bool connection_memory::has_room(std::size_t more_bytes) const noexcept {
  const memory_budget& budget = all_.budget();
  const std::size_t after = held_bytes() + more_bytes;
  if (after <= most_bytes() / 2) return true;
  return after <= most_bytes() &&
         budget.taken() + more_bytes + memory_budget::slice_bytes <= budget.limit();
}

void connection_memory::make_room(std::size_t more_bytes) noexcept {
  for (unsigned i = 0; i < dropped_at_once; ++i) {
    const bool is_much = exceeds(most_bytes() / 2, more_bytes);
    if (is_much && drop_unfinished(slow_peer::slow_after) != 0) continue;
    if (drop_silent() == 0) return;
  }
}

memory_reservation connection_memory::admit(std::size_t size_bytes) noexcept {
  make_room(size_bytes);
  if (!has_room(size_bytes)) {
    all_.note_refused();
    return {};
  }
  return all_.hold(memory_kind::connections, size_bytes);
}

bool connection_memory::admit(memory_reservation& to, std::size_t more_bytes) noexcept {
  make_room(more_bytes);
  if (!has_room(more_bytes)) {
    all_.note_refused();
    return false;
  }
  to.grow(more_bytes);
  return true;
}

void connection_memory::grow(memory_reservation& of, std::size_t more_bytes) noexcept {
  of.grow(more_bytes);
  while (exceeds(most_bytes(), 0))
    if (drop_unfinished(duration::zero()) == 0) return;
}

void connection_memory::note_unfinished(slow_peer& who, const slow_peer_kind& kind) noexcept {
  who.since_ = all_.now();
  who.kind_ = &kind;
  unfinished_.push_back(who);
}

void connection_memory::note_silent(slow_peer& who, const slow_peer_kind& kind,
                                    std::size_t held_bytes) noexcept {
  who.since_ = all_.now();
  who.kind_ = &kind;
  silent_bytes_ += held_bytes;
  silent_.push_back(who);
}

void connection_memory::note_talks(slow_peer& who, std::size_t held_bytes) noexcept {
  who.in_line_.unlink();
  silent_bytes_ -= held_bytes;
}

std::size_t connection_memory::relieve(std::size_t wanted_bytes) noexcept {
  std::size_t freed = 0;
  while (freed < wanted_bytes) {
    std::size_t more = drop_unfinished(slow_peer::slow_after);
    if (more == 0) more = drop_silent();
    if (more == 0) break;
    freed += more;
  }
  return freed;
}

/// What is freed. 0: nobody has waited that long.
std::size_t connection_memory::drop_unfinished(duration waited_least) noexcept {
  slow_peer* const first = unfinished_.front();
  if (first == nullptr || all_.now() - first->since_ < waited_least) return 0;
  note_finished(*first);
  return drop(*first);
}

/// Those whose clients wait for us go to the end of the line instead.
std::size_t connection_memory::drop_silent() noexcept {
  for (unsigned i = 0; i < looked_at_once && silent_bytes_ > silent_most_bytes(); ++i) {
    slow_peer* const first = silent_.front();
    if (first == nullptr || all_.now() - first->since_ < slow_peer::slow_after) return 0;
    const std::size_t held = first->kind_->held_bytes(*first);
    note_talks(*first, held);
    if (held != 0) return drop(*first);
    first->since_ = all_.now();
    silent_.push_back(*first);
  }
  return 0;
}

std::size_t connection_memory::drop(slow_peer& who) noexcept {
  const std::size_t held = who.kind_->held_bytes(who);
  leaving_bytes_ += held;
  dropped_at_ = all_.now();
  all_.note_dropped();
  who.kind_->drop(who);
  return held;
}

}  // namespace weft
