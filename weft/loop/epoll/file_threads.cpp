#include <weft/loop/epoll/file_threads.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>

#include <weft/loop/socket_calls.hpp>
#include <weft/loop/thread_place.hpp>

namespace weft {

file_threads::~file_threads() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool file_threads::start(file_operation& op) noexcept {
  if (!has_thread_for(count_ + 1)) {
    // Whoever closes has given the descriptor away: nobody else will.
    op.result = op.action == file_action::close ? op.perform() : -EAGAIN;
    return true;
  }
  ++count_;
  all_.push_back(op);
  {
    const std::lock_guard lock{mutex_};
    op.has_begun = false;
    waiting_.push_back(op);
  }
  changed_.notify_one();
  return false;
}

/// One an operation, up to the most. Fewer do, if the system has no more; none do not.
bool file_threads::has_thread_for(std::size_t operations) noexcept {
  if (threads_.size() >= std::min(operations, threads_most)) return true;
  try {
    unpin_thread(threads_.emplace_back([this] { work(); }).native_handle());
  } catch (const std::exception&) {  // no thread, or no memory for one
    return !threads_.empty();
  }
  return true;
}

bool file_threads::withdraw(file_operation& op) noexcept {
  const std::lock_guard lock{mutex_};
  if (op.has_begun || !op.in_line.is_linked()) return false;
  op.in_line.unlink();
  forget(op);
  return true;
}

void file_threads::work() noexcept {
  place_thread({.name = "files", .nice_more = nice_beside_loop});
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    file_operation& op = *waiting_.pop_front();
    op.has_begun = true;
    lock.unlock();
    op.result = op.perform();
    lock.lock();
    done_.push_back(op);
    signal_wake(wake_);
  }
}

void file_threads::forget(file_operation& op) noexcept {
  all_.erase(op);
  --count_;
}

void file_threads::reap(ready_queue& ready) noexcept {
  const std::lock_guard lock{mutex_};
  while (file_operation* op = done_.pop_front()) {
    forget(*op);
    ready.push(*op, priority::normal);
  }
}

}  // namespace weft
