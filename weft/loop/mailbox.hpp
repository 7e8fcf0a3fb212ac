// How other threads speak to a loop: they post a function, the loop runs it at the start of a turn.
//
// Contract: post() may be called from any thread at any time while the mailbox lives. It says
// whether the loop must be woken, which is only when it sleeps and nobody has woken it yet. Of
// functions, which the mailbox stores, so many may wait; of runnables, which are their owners'
// memory, any number. drain() is the loop's.
//
//   if (mailbox.post([&] { ++counter; }) == mailbox::receipt::wake) backend.wake();
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/loop/doorbell.hpp>

namespace weft {

class mailbox {
 public:
  using letter = unique_function<void()>;
  enum class receipt : std::uint8_t {
    full,    // not taken
    posted,  // the loop will see it by itself
    wake,    // the caller wakes the loop
  };

  /// `letters_max`: those that may wait to be looked at. What the loop is running already does not
  /// count.
  mailbox(doorbell& bell, std::size_t letters_max) noexcept
      : bell_{bell}, letters_max_{letters_max} {}
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox();

  /// Any thread.
  [[nodiscard]] receipt post(letter work);
  /// Any thread: `item`, which is in no queue, is run like a letter. Never full.
  [[nodiscard]] receipt post(runnable& item) noexcept;

  /// Whether drain() has something to look at, for a loop that polls. The loop's thread.
  [[nodiscard]] bool has_letters() const noexcept {
    return has_leftovers() || bell_.rung(doorbell::letters);
  }
  /// Whether the limit has kept drain() from finishing. The loop's thread.
  [[nodiscard]] bool has_leftovers() const noexcept { return left_ != 0 || !running_.empty(); }
  /// Runs what had been posted when the call began, at most `limit`, and says how many. The loop's
  /// thread.
  unsigned drain(unsigned limit) { return has_letters() ? deliver(limit) : 0; }

 private:
  using runnables = intrusive_queue<runnable, &runnable::next>;
  [[gnu::noinline]] unsigned deliver(unsigned limit);
  void collect();
  [[nodiscard]] receipt ring() noexcept {
    return bell_.ring(doorbell::letters) ? receipt::wake : receipt::posted;
  }

  doorbell& bell_;
  std::size_t letters_max_;
  std::mutex mutex_;
  // Under mutex_.
  std::vector<letter> posted_;
  runnables posted_runnables_;
  // The loop's own from here on.
  std::vector<letter> delivering_;
  std::size_t left_ = 0;  // the last so many of them are still to be delivered
  runnables running_;
};

}  // namespace weft
