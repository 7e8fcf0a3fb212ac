// The policy of the calling thread, as the kernel takes and gives it (sched_setattr(2)). The C
// library has no calls for it yet. Internal to the layer.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace weft::realtime {

struct scheduling_attributes {
  static constexpr std::uint32_t fifo = 1;
  static constexpr std::uint32_t round_robin = 2;
  static constexpr std::uint32_t deadline = 6;
  /// Threads that it makes are as others.
  static constexpr std::uint64_t reset_on_fork = 1;

  std::uint32_t size = sizeof(scheduling_attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;

  [[nodiscard]] bool is_realtime() const noexcept {
    return policy == fifo || policy == round_robin;
  }
  [[nodiscard]] bool is_deadline() const noexcept { return policy == deadline; }

  [[nodiscard]] static scheduling_attributes read() noexcept {
    scheduling_attributes now;
    if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0U) != 0) return {};
    return now;
  }
  /// What the system said; 0: done.
  [[nodiscard]] int apply() const noexcept {
    return ::syscall(SYS_sched_setattr, 0, this, 0U) == 0 ? 0 : errno;
  }
};

}  // namespace weft::realtime
