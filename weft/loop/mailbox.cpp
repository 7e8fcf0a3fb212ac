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
  if (delivered_ == delivering_.size()) {
    delivering_.clear();
    delivered_ = 0;
    const std::lock_guard lock{mutex_};
    filled_.store(false, std::memory_order_relaxed);
    std::swap(delivering_, posted_);
  }
  const std::size_t before = delivered_;
  for (; limit > 0 && delivered_ < delivering_.size(); --limit)
    std::exchange(delivering_[delivered_++], letter{})();
  return delivered_ != before;
}

bool mailbox::prepare_to_sleep() noexcept {
  if (delivered_ < delivering_.size()) return false;
  sleeping_.store(true);
  if (!filled_.load()) return true;
  woke_up();
  return false;
}

}  // namespace weft
