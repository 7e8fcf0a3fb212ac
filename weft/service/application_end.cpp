// How an application ends: asked to, or when what does not end is left.
#include <weft/service/application_state.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/base/failure_note.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/base/log_parts.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/leftovers.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/service/shard.hpp>

namespace weft {
namespace {

/// How long a shard has to say what it has left. A thread that takes longer is kept by something.
constexpr duration answer_time = std::chrono::seconds{1};

}  // namespace

void application::state::stop_all() {
  const std::lock_guard lock{mutex};
  if (!std::exchange(stop_requested, true)) stop_requested_at = std::chrono::steady_clock::now();
  try {
    if (running && !watchdog.joinable()) {
      watchdog = std::thread{[this] { watch_end(); }};
      unpin_thread(watchdog.native_handle());
    }
  } catch (const std::exception& why) {
    log::error_of({"nothing watches that the program ends: ", why.what()});
  }
  if (shards_mesh != nullptr) shards_mesh->request_stop();
}

void application::state::end() {
  {
    const std::lock_guard lock{mutex};
    running = false;
    if (stop_requested)
      log::info(weft::format("ended, {} after it was to stop",
                             std::chrono::duration_cast<std::chrono::milliseconds>(
                                 std::chrono::steady_clock::now() - stop_requested_at)));
  }
  ended.notify_all();
  if (watchdog.joinable()) watchdog.join();
}

/// A task can only be asked to end, and a thread not even that. A program that waits for one in
/// silence is worse than one that says so and ends. On a thread of its own: what it waits for may
/// keep any other.
void application::state::watch_end() {
  std::unique_lock lock{mutex};
  const auto patience = options.stop_timeout + options.end_timeout;
  if (ended.wait_for(lock, patience, [this] { return !running; })) return;
  ask_for_leftovers();
  ended.wait_for(lock, answer_time, [this] { return !running || asked == 0; });
  if (!running) return;
  for (shard* each : shards) tell_leftovers(*each);
  if (const char* const note = failure_note(); note != nullptr) log::error(note);
  log::error("what does not end is left: the process ends");
  std::_Exit(EXIT_FAILURE);
}

/// Each on its own thread: what lives on a shard is nobody else's to look at.
void application::state::ask_for_leftovers() {
  left.resize(options.threads);
  for (shard* each : shards) {
    const auto posted = each->loop().post([this, &loop = each->loop()] {
      auto lines = leftovers(loop);
      const std::lock_guard answering{mutex};
      left[loop.shard()] = std::move(lines);
      --asked;
      ended.notify_all();
    });
    if (posted) ++asked;
  }
}

void application::state::tell_leftovers(shard& of) const {
  log::error(of.progress());
  const std::vector<std::string>& lines = left[of.index()];
  if (lines.empty()) {
    const std::string task = task_at_work(of.loop());
    log::error(weft::format("shard {} does not say what it has left: its thread is kept by {}",
                            of.index(), task.empty() ? "what is no task" : task));
  }
  for (const std::string& line : lines) log::error(line);
}

}  // namespace weft
