#include <weft/loop/piece_watch.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/coro/task_dump.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {

std::string describe(const loop_piece& piece) {
  switch (piece.kind) {
    case piece_kind::task: return describe(piece.resumed_at);
    case piece_kind::callback: return "a callback of the loop";
    case piece_kind::mail: return "mail of other shards";
    case piece_kind::timers: return "timers of the loop";
    case piece_kind::io: return "I/O of the loop";
  }
  return "unknown";
}

void piece_watch::end(time_point now, time_point next_due, piece_kind kind,
                      const std::source_location& resumed_at) noexcept {
  due_ = std::min({due_, next_due, expected_});
  const duration lasted = now - std::max(begun_, due_);
  begun_ = now;
  if (lasted <= duration::zero()) return;
  std::uint64_t number = count_++;
  while (kept_count_ != 0 &&
         (kept_[kept_count_ - 1].piece.lasted <= lasted || kept_count_ == kept_max))
    number = kept_[--kept_count_].number;
  kept_[kept_count_++] = {
      .piece = {.lasted = lasted, .ended = now, .kind = kind, .resumed_at = resumed_at},
      .number = number};
}

const piece_watch::kept_piece* piece_watch::first_since(time_point due) const noexcept {
  return std::find_if(kept_.data(), end_of_kept(),
                      [due](const kept_piece& each) { return each.piece.ended > due; });
}

/// The first was running perhaps when that time began; the next is the longest of the others.
loop_piece piece_watch::longest_since(time_point due) const noexcept {
  const kept_piece* const first = first_since(due);
  if (first == end_of_kept()) return {};
  loop_piece longest = first->piece;
  longest.lasted = std::min(longest.lasted, longest.ended - due);
  const kept_piece* const next = first + 1;
  return next != end_of_kept() && next->piece.lasted > longest.lasted ? next->piece : longest;
}

std::uint64_t piece_watch::count_since(time_point due) const noexcept {
  const kept_piece* const first = first_since(due);
  return first == end_of_kept() ? 0 : count_ - first->number;
}

void piece_watch::begin(time_point next_due) noexcept {
  next_due = std::min(next_due, expected_);
  if (is_held_ || begun_ >= next_due) return;
  kept_count_ = 0;
  count_ = 0;
  due_ = next_due;
}

void event_loop::end_piece(piece_kind kind) noexcept {
  if (pieces_ != nullptr)
    pieces_->end(io_->now(), timers_.next_due(), kind,
                 detail::running.resumed_at.load(std::memory_order_relaxed));
}

/// What is due to the nanosecond does not wait for all that is ready.
void event_loop::release_due(time_point now) noexcept {
  if (timers_.has_exact() && now >= timers_.next_due()) {
    now_ = now;
    gauges_.timers_fired.add(timers_.advance(now_, options_.timers_per_turn));
    end_piece(piece_kind::timers);
  }
  if (pieces_ != nullptr) pieces_->begin(timers_.next_due());
}

void event_loop::watch_pieces(piece_watch* watch) noexcept {
  WEFT_ASSERT(watch == nullptr || pieces_ == nullptr, "a loop's pieces have one watch at a time");
  pieces_ = watch;
  is_plain_ = !shuffle_ && pieces_ == nullptr;
}

}  // namespace weft
