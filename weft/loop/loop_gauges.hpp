// What a loop has done so far, and what it holds: to be read from any thread while it runs.
//
// Contract: loop_gauges are plain values. A gauge is written by its loop alone, with relaxed
// atomics, so that reading costs the loop nothing and writing an addition; one read of several
// gauges is not a snapshot. What the loop holds (frames, buffers) is noted when it has nothing to
// do, before it sleeps or as it begins to poll, and every 64 turns.
//
//   const loop_gauges seen = loop.gauges();
//   log::info(weft::format("{} turns, {} sleeps", seen.turns, seen.sleeps));
#pragma once

#include <atomic>
#include <cstdint>

namespace weft {

struct loop_gauges {
  std::uint64_t turns = 0;
  /// Taken from the ready queue and run.
  std::uint64_t resumptions = 0;
  std::uint64_t timers_fired = 0;
  /// Functions posted by other threads, and run.
  std::uint64_t letters = 0;
  /// From and to other shards.
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  /// Times it went to wait for the kernel.
  std::uint64_t sleeps = 0;
  /// Coroutine frames alive, and the bytes that the thread's pool has set aside for them.
  std::uint64_t live_frames = 0;
  std::uint64_t frame_bytes = 0;
  /// Receive buffers of 16 KiB lent out.
  std::uint64_t buffers_in_use = 0;
};

/// One number with one writer.
class gauge {
 public:
  void add(std::uint64_t more) noexcept { set(get() + more); }
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// loop_gauges, as the loop keeps them.
struct loop_gauge_board {
  gauge turns, resumptions, timers_fired, letters, messages_in, messages_out, sleeps, live_frames,
      frame_bytes, buffers_in_use;

  [[nodiscard]] loop_gauges read() const noexcept {
    return {.turns = turns.get(),
            .resumptions = resumptions.get(),
            .timers_fired = timers_fired.get(),
            .letters = letters.get(),
            .messages_in = messages_in.get(),
            .messages_out = messages_out.get(),
            .sleeps = sleeps.get(),
            .live_frames = live_frames.get(),
            .frame_bytes = frame_bytes.get(),
            .buffers_in_use = buffers_in_use.get()};
  }
};

}  // namespace weft
