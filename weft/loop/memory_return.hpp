// Gives memory that a peak has left behind back to the system.
//
// Problem: pools keep what was freed, since the next request wants it, and malloc keeps what lies
// between blocks that live. So a crowd that has gone would cost its memory for ever. Contract: as
// long as the loop works, it is looked after once in `interval`: free slabs of the frame pool and
// free slots of the buffer pool are given back in slices, each shorter than a request that reads a
// row, and malloc gives back what it has to give, on a thread of the loop's blocking pool, for all
// threads of the process. The ends of their heaps are left by that, so the loop and its blocking
// threads give back each its own. While the loop does nothing, nothing is done. Ends when it is
// asked to stop. Not for a loop with deadlines: what is given back must be faulted in again.
//
//   loop.spawn(return_memory(loop));
#pragma once

#include <chrono>
#include <cstddef>

#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>

namespace weft {

class event_loop;

struct memory_return_options {
  duration interval = std::chrono::seconds{20};
  duration pause = std::chrono::milliseconds{1};  // between two slices
  std::size_t blocks_per_slice = 512;
  std::size_t slots_per_slice = 32;
};

/// Of malloc, for all threads: a block of 128 KiB or more is a mapping of its own, which the system
/// has back as soon as it is freed. Otherwise glibc keeps such blocks in its heap once it has seen
/// some, and a peak of long bodies and replies costs a multiple of its memory until it is trimmed.
void map_large_blocks() noexcept;

/// What malloc_trim() leaves: the end of the calling thread's heap, but for 128 KiB. Any thread may
/// call it. Later, malloc keeps 8 MiB there.
void trim_end_of_thread_heap() noexcept;

[[nodiscard]] task<void> return_memory(event_loop& loop, memory_return_options options = {});

}  // namespace weft
