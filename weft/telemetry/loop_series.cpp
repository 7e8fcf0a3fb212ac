#include <weft/telemetry/loop_series.hpp>

#include <array>

namespace weft::telemetry {
namespace {

struct column {
  std::uint64_t loop_gauges::* number;
  const char* name;
  series_kind kind;
  const char* help;
};

constexpr auto counts = series_kind::counter;
constexpr auto holds = series_kind::gauge;

constexpr std::array columns{
    column{&loop_gauges::turns, "loop_turns_total", counts, "Turns of the event loops"},
    column{&loop_gauges::resumptions, "loop_resumptions_total", counts,
           "Taken from the ready queues and run"},
    column{&loop_gauges::timers_fired, "loop_timers_fired_total", counts, "Timers that came due"},
    column{&loop_gauges::letters, "loop_letters_total", counts,
           "Functions posted by other threads, and run"},
    column{&loop_gauges::messages_in, "loop_messages_in_total", counts,
           "Messages from other shards"},
    column{&loop_gauges::messages_out, "loop_messages_out_total", counts,
           "Messages to other shards"},
    column{&loop_gauges::sleeps, "loop_sleeps_total", counts, "Waits for the kernel"},
    column{&loop_gauges::live_frames, "loop_live_frames", holds, "Coroutine frames alive"},
    column{&loop_gauges::frame_bytes, "loop_frame_bytes", holds,
           "Memory set aside for coroutine frames"},
    column{&loop_gauges::buffers_in_use, "loop_buffers_in_use", holds,
           "Receive buffers of 16 KiB lent out"}};

}  // namespace

void add_loop_series(snapshot& into, std::span<const loop_gauges> shards) {
  for (const column& each : columns) {
    series& added = into.all.emplace_back();
    added.name = each.name;
    added.help = each.help;
    added.kind = each.kind;
    for (const loop_gauges& shard : shards) {
      added.by_shard.push_back(static_cast<std::int64_t>(shard.*each.number));
      added.value += added.by_shard.back();
    }
  }
}

}  // namespace weft::telemetry
