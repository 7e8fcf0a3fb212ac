// How other threads speak to a loop: they post a function, the loop runs it at the start of a turn.
//
// Contract: post() may be called from any thread at any time while the mailbox lives. It says
// whether the loop must be woken, which is only when it sleeps and nobody has woken it yet. drain()
// is the loop's.
//
//   if (mailbox.post([&] { ++counter; })) backend.wake();
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include <weft/base/unique_function.hpp>

namespace weft {

class mailbox {
 public:
  using letter = unique_function<void()>;

  /// Any thread. True: the caller wakes the loop.
  [[nodiscard]] bool post(letter work);

  /// Whether drain() has something to look at, for a loop that polls. The loop's thread.
  [[nodiscard]] bool has_letters() const noexcept {
    return left_ != 0 || filled_.load(std::memory_order_relaxed);
  }
  /// Runs what had been posted when the call began, at most `limit`. True: something ran. The
  /// loop's thread.
  bool drain(unsigned limit) { return has_letters() && deliver(limit); }

  /// The loop announces that it is about to wait. False: letters have come, so it must not.
  [[nodiscard]] bool prepare_to_sleep() noexcept;
  void woke_up() noexcept { sleeping_.store(false, std::memory_order_relaxed); }

 private:
  [[gnu::noinline]] bool deliver(unsigned limit);

  std::mutex mutex_;
  std::vector<letter> posted_;  // under mutex_
  std::atomic<bool> filled_{false};
  std::atomic<bool> sleeping_{false};
  std::vector<letter> delivering_;  // the loop's own from here on
  std::size_t left_ = 0;            // the last so many of them are still to be delivered
};

}  // namespace weft
