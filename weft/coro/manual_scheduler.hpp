// A scheduler without a loop, stepped by hand: for tests of what needs no more than a ready queue.
//
// Contract: bands in order of urgency, first in first out within a band, as everywhere. Nothing
// runs but from run(). One thread.
//
//   manual_scheduler ready;
//   scope tasks{{.runs_on = &ready}};
//   tasks.spawn(work());
//   ready.run();
#pragma once

#include <array>
#include <cstddef>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/runnable.hpp>

namespace weft {

class manual_scheduler final : public scheduler {
 public:
  void schedule(runnable& item, priority band) noexcept override {
    bands_[static_cast<std::size_t>(band)].push_back(item);
  }

  /// Runs the most urgent item. False: there was none.
  bool step() noexcept {
    for (queue& band : bands_) {
      runnable* const item = band.pop_front();
      if (item == nullptr) continue;
      item->run(*item);
      return true;
    }
    return false;
  }

  /// Runs all that is queued, and all that this queues.
  void run() noexcept {
    while (step()) {}
  }

 private:
  using queue = intrusive_queue<runnable, &runnable::next>;
  std::array<queue, priority_count> bands_;
};

}  // namespace weft
