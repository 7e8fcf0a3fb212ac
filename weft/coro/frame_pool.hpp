// Memory for coroutine frames: a frame lives as long as one request or one connection, is made and
// freed on one shard, and malloc's price for that is most of the price of a small coroutine.
//
// Contract: `allocate(n)` and `deallocate(p, n)` are called on the same thread. Sizes up to 4 KiB
// come from free lists in steps of 16 bytes, last in, first out, so that the next frame is warm;
// larger ones from the global heap. Freed memory is kept for the next frames, until trim() gives
// back what a peak has left: slabs of 64 KiB of which no frame is alive. Allocating costs the same
// before, meanwhile and after. Under AddressSanitizer every frame is a heap block of its own, so
// that a use after free is seen.
//
//   void* frame = frame_pool::allocate(bytes);
//   frame_pool::deallocate(frame, bytes);
#pragma once

#include <cstddef>

namespace weft::frame_pool {

/// Throws std::bad_alloc when the system has no memory.
[[nodiscard]] void* allocate(std::size_t size_bytes);
void deallocate(void* frame, std::size_t size_bytes) noexcept;

/// Sorts at most `blocks_max` free blocks of this thread by their slabs, and gives those that are
/// wholly free back to the system. False: all that were free when the round began are sorted, and
/// the next call begins another.
[[nodiscard]] bool trim(std::size_t blocks_max) noexcept;

/// Frames of this thread that are alive now: what a leak check compares with zero.
[[nodiscard]] std::size_t live_frames() noexcept;

/// Bytes of this thread's blocks up to 4 KiB that are alive now, each with what its size was
/// rounded up by. Counted when asked, in time linear in the free blocks. 0 under AddressSanitizer.
[[nodiscard]] std::size_t live_bytes() noexcept;

/// Bytes this thread's pool has cut into blocks and not given back, alive or free. 0 under
/// AddressSanitizer.
[[nodiscard]] std::size_t held_bytes() noexcept;

}  // namespace weft::frame_pool
