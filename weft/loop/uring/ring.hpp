// The submission and completion rings: set up with the best flags the kernel takes, submitted to
// and reaped.
//
// Contract: one thread. open() has the kernel answer an entry, so that a ring which may be made but
// not used is refused there. prepare() never fails: a full submission ring is submitted first.
// enter() never loses an entry: interrupted or busy submissions are tried again at the next call.
// What the kernel refuses for good ends the process (needed_calls.hpp).
//
//   io_uring_sqe& entry = ring.prepare();
//   io_uring_prep_send(&entry, fd, data, size, flags);
//   ring.enter(until);
//   ring.for_each([](const io_uring_cqe& answer) { ... });
#pragma once

#include <liburing.h>

#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>

namespace weft {

class ring {
 public:
  ring() noexcept = default;
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring();

  [[nodiscard]] result<void> open(std::string& why);
  [[nodiscard]] std::string_view mode() const noexcept { return mode_; }
  [[nodiscard]] io_uring& raw() noexcept { return ring_; }

  [[nodiscard]] io_uring_sqe& prepare() noexcept;
  /// That are prepared and were not submitted.
  [[nodiscard]] bool has_entries() const noexcept { return io_uring_sq_ready(&ring_) != 0; }
  /// Submits, and waits for at least one answer until `until`; time_point::min() does not wait, and
  /// makes no system call when there is nothing to submit and the kernel has nothing to say.
  void enter(time_point until) noexcept;

  template <class F>
  void for_each(F on_answer) {
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* answer = nullptr;
    io_uring_for_each_cqe(&ring_, head, answer) {
      on_answer(*answer);
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
  }

 private:
  [[nodiscard]] int try_out() noexcept;
  [[nodiscard]] bool kernel_has_work() noexcept;

  io_uring ring_{};
  std::string_view mode_;
  bool open_ = false;
};

}  // namespace weft
