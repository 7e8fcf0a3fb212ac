#include <weft/loop/mailbox.hpp>

#include <utility>

namespace weft {

mailbox::~mailbox() {
  while (running_.pop_front() != nullptr) {}
  while (posted_runnables_.pop_front() != nullptr) {}
}

mailbox::receipt mailbox::post(letter work) {
  {
    const std::lock_guard lock{mutex_};
    if (posted_.size() >= letters_max_) return receipt::full;
    posted_.push_back(std::move(work));
  }
  return ring();
}

mailbox::receipt mailbox::post(runnable& item) noexcept {
  {
    const std::lock_guard lock{mutex_};
    posted_runnables_.push_back(item);
  }
  return ring();
}

void mailbox::collect() {
  delivering_.clear();
  const std::lock_guard lock{mutex_};
  static_cast<void>(bell_.take(doorbell::letters));
  std::swap(delivering_, posted_);
  left_ = delivering_.size();
  running_.splice_back(posted_runnables_);
}

unsigned mailbox::deliver(unsigned limit) {
  if (!has_leftovers()) collect();
  unsigned ran = 0;
  for (; ran < limit && left_ != 0; ++ran) {
    letter& next = delivering_[delivering_.size() - left_--];
    std::exchange(next, letter{})();
  }
  for (; ran < limit && !running_.empty(); ++ran) {
    runnable& next = *running_.pop_front();
    next.run(next);
  }
  return ran;
}

}  // namespace weft
