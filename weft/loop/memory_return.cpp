#include <weft/loop/memory_return.hpp>

#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <tuple>

#include <weft/coro/frame_pool.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/blocking_pool.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {
namespace {

/// What one look takes itself, at most: a loop that has resumed no more since has done nothing
/// else.
constexpr std::uint64_t own_resumptions = 16;

#ifdef __GLIBC__
/// Less is not worth the page faults.
constexpr std::size_t heap_least_bytes = 1024 * 1024;
/// Parts of replies are larger. Were they in the heaps, each shard's would keep its own peak, and
/// together a multiple of the budget. Smaller blocks would cost more by their page faults than they
/// would save.
constexpr int mapped_least_bytes = 128 * 1024;
/// What malloc keeps at the end of its heap: it stands at 128 KiB once the other is said.
constexpr int kept_at_end_bytes = 8 * 1024 * 1024;

/// A free block of this size lets glibc look at the end of the thread's heap
/// (FASTBIN_CONSOLIDATION_THRESHOLD), and is less than it keeps there.
constexpr std::size_t looked_after_bytes = 96 * 1024;
/// What is left at the end of a thread's heap.
constexpr int least_at_end_bytes = 128 * 1024;

/// Of all threads, so by one of them at a time.
void trim_heap() noexcept {
  static std::atomic_flag is_busy;
  if (is_busy.test_and_set()) return;
  if (::mallinfo2().fordblks >= heap_least_bytes) ::malloc_trim(heap_least_bytes / 4);
  is_busy.clear();
}
#else
void trim_heap() noexcept {}
#endif

task<result<void>> return_frames(event_loop& loop, const memory_return_options& options) {
  while (frame_pool::trim(options.blocks_per_slice))
    if (const auto slept = co_await sleep_for(loop, options.pause); !slept) co_return slept;
  co_return result<void>{};
}

task<result<void>> return_buffers(event_loop& loop, const memory_return_options& options) {
  buffer_pool& buffers = loop.buffers();
  for (std::size_t next = 0;;) {
    next = buffers.trim(next, options.slots_per_slice);
    if (next >= buffers.free_slots()) co_return result<void>{};
    if (const auto slept = co_await sleep_for(loop, options.pause); !slept) co_return slept;
  }
}

}  // namespace

void map_large_blocks() noexcept {
#ifdef __GLIBC__
  // Where it is refused, memory comes back later.
  std::ignore = ::mallopt(M_MMAP_THRESHOLD, mapped_least_bytes);
  // Where it is refused, memory comes back sooner.
  std::ignore = ::mallopt(M_TRIM_THRESHOLD, kept_at_end_bytes);
#endif
}

void trim_end_of_thread_heap() noexcept {
#ifdef __GLIBC__
  // One threshold stands for all threads. Whoever is the last to leave sets it back; who misses its
  // turn by that has another one after the next interval.
  static std::atomic<int> trimming = 0;
  trimming.fetch_add(1);
  // Where it is refused, as much stays as before.
  std::ignore = ::mallopt(M_TRIM_THRESHOLD, least_at_end_bytes);
  void* volatile looked_after = std::malloc(looked_after_bytes);  // volatile: or it is left out
  std::free(looked_after);
  if (trimming.fetch_sub(1) != 1) return;
  // Where it is refused, memory comes back sooner.
  std::ignore = ::mallopt(M_TRIM_THRESHOLD, kept_at_end_bytes);
#endif
}

task<void> return_memory(event_loop& loop, memory_return_options options) {
  for (std::uint64_t seen = 0;;) {
    if (!co_await sleep_for(loop, options.interval)) co_return;
    if (loop.gauges().resumptions - seen <= own_resumptions) continue;
    try {
      if (!co_await return_frames(loop, options)) co_return;
      if (!co_await return_buffers(loop, options)) co_return;
      // Where no thread is to be had for it, another time.
      static_cast<void>(co_await blocking(&trim_heap));
      if (loop.has_threads()) loop.blocking_threads().trim_heaps();
    } catch (const std::bad_alloc&) {
      continue;  // there is none for the work itself: another time
    }
    trim_end_of_thread_heap();
    seen = loop.gauges().resumptions;
  }
}

}  // namespace weft
