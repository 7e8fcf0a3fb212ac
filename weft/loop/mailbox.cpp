#include <weft/loop/mailbox.hpp>

#include <utility>

namespace weft {

bool mailbox::post(letter work) {
  {
    const std::lock_guard lock{mutex_};
    posted_.push_back(std::move(work));
  }
  // Sequentially consistent on both sides: either this thread sees the sleeper, or the sleeper sees
  // the letter.
  filled_.store(true);
  return sleeping_.exchange(false);
}

bool mailbox::deliver(unsigned limit) {
  if (left_ == 0) {
    delivering_.clear();
    const std::lock_guard lock{mutex_};
    filled_.store(false, std::memory_order_relaxed);
    std::swap(delivering_, posted_);
    left_ = delivering_.size();
  }
  const std::size_t before = left_;
  for (; limit > 0 && left_ != 0; --limit) {
    letter& next = delivering_[delivering_.size() - left_--];
    std::exchange(next, letter{})();
  }
  return left_ != before;
}

bool mailbox::prepare_to_sleep() noexcept {
  if (left_ != 0) return false;
  sleeping_.store(true);
  if (!filled_.load()) return true;
  woke_up();
  return false;
}

}  // namespace weft
