// What a thread with deadlines asks of the system, and what of it took effect.
//
// Problem: a program that may not have SCHED_FIFO, or whose memory is not locked, runs all the same
// and misses a deadline a week later. Contract: apply() asks for each wish in turn, on the calling
// thread, and nothing that is refused ends it: each is told with what the system said and the
// command that would allow it. Threads that the calling one makes are scheduled as others, but are
// on its CPU unless they say otherwise. Of the whole process are: the lock of its memory, what its
// heap keeps (glibc's; another allocator has its own ways), and that processors stay awake, which
// lasts as long as the applied_setup. Blocks for as long as it takes to touch the memory;
// allocates.
//
//   const auto setup = realtime::apply({.policy = scheduling::fifo, .priority = 20, .cpu = 1});
//   log.info("{}", to_table(setup.effects));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/time.hpp>

namespace weft::realtime {

/// sched(7).
enum class scheduling : std::uint8_t {
  other,     // as it is
  fifo,      // before all that is not, until it waits
  deadline,  // `budget.runtime` of each `budget.period`, before all else
};

/// Of SCHED_DEADLINE, whose threads may not be pinned: runtime <= deadline <= period.
struct deadline_budget {
  duration runtime{};
  duration deadline{};
  duration period{};
};

/// What is not set is left as it is.
struct thread_setup {
  scheduling policy = scheduling::other;
  /// Of scheduling::fifo, 1 to 99. Those of the kernel's own threads are 50 and above.
  int priority = 1;
  deadline_budget budget{};
  /// The only CPU it runs on.
  std::optional<unsigned> cpu{};
  /// No page of the process leaves memory, those that come included (mlockall(2)). Where that is
  /// limited (RLIMIT_MEMLOCK), later threads and allocations that go beyond the limit fail.
  bool lock_memory = false;
  /// So much of the stack, and of the heap, is touched now. The heap keeps what it has then, for
  /// this thread, in blocks of up to 16 MiB; more than the machine has free ends in its OOM killer.
  std::size_t stack_bytes = 0;
  std::size_t heap_bytes = 0;
  /// How much later than asked for the kernel may wake it, to spare wake-ups: 50 us unless set; 1
  /// ns or more.
  /// Threads of scheduling::fifo and deadline are never woken late on purpose.
  std::optional<duration> timer_slack{};
  /// No processor sleeps so deep that it takes time to wake (PM QoS).
  bool keep_processors_awake = false;
};

/// What has become of one wish.
struct setup_effect {
  std::string wish;
  bool is_applied = false;
  /// Where it is not: why, and what would allow it; empty where that is not known.
  std::string why{};
  std::string remedy{};
};

struct applied_setup {
  applied_setup() noexcept = default;
  applied_setup(applied_setup&& other) noexcept;
  applied_setup& operator=(applied_setup&&) = delete;
  ~applied_setup();

  [[nodiscard]] bool is_whole() const noexcept;

  std::vector<setup_effect> effects;
  int wakefulness_fd = -1;  // processors stay awake while it is open
};

/// Of the calling thread.
[[nodiscard]] applied_setup apply(const thread_setup& wanted);

/// For people, with the wish filled up to a width; no newline at the end.
[[nodiscard]] std::string to_line(const setup_effect& effect, std::size_t width = 0);

/// A line for each, for people; no newline at the end.
[[nodiscard]] std::string to_table(const std::vector<setup_effect>& effects);

}  // namespace weft::realtime
