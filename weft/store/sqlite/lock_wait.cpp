#include <weft/store/sqlite/lock_wait.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace weft::store::sqlite {
namespace {

/// Most locks are short.
duration pause_before(int tries) noexcept {
  constexpr int longest_ms = 50;
  return std::chrono::milliseconds{std::min(1 + tries * 2, longest_ms)};
}

}  // namespace

int lock_wait::on_busy(void* self, int tries) noexcept {
  return static_cast<lock_wait*>(self)->waits(tries) ? 1 : 0;
}

bool lock_wait::waits(int tries) noexcept {
  const bool is_called_off =
      !batches_.empty() && std::ranges::all_of(batches_, &queued_write::is_given_up);
  if (is_called_off) return false;
  const time_point now = std::chrono::steady_clock::now();
  if (!held_since_ || (batches_.empty() && tries == 0)) held_since_ = now;
  const time_point end = std::max(*held_since_, youngest()) + most_;
  if (now >= end) return false;
  std::this_thread::sleep_for(std::min(pause_before(tries), end - now));
  return true;
}

time_point lock_wait::youngest() const noexcept {
  time_point last = time_point::min();
  for (const queued_write* const each : batches_) last = std::max(last, each->asked_at());
  return last;
}

}  // namespace weft::store::sqlite
