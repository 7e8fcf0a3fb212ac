// N shards on N threads: starts them, names and pins them, stops them, waits for them.
//
// Contract: start() makes a thread, a loop and a place in one mesh for each shard and, when all are
// there, calls `main` once on each; what it gives is spawned there. A shard serves the others until
// request_stop(), and then until its own tasks have ended. An exception that leaves a task stops
// all shards; join() rethrows the first. The destructor stops and joins. start() and join() are one
// thread's, which has no loop of its own while it waits; all else is any thread's.
//
//   runtime shards{{.shards = 4}};
//   auto up = shards.start([](event_loop& loop) -> task<void> { co_await serve(loop); });
//   shards.post(2, [] { log::info("on shard 2"); });
//   shards.request_stop();
//   shards.join();
#pragma once

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/thread_place.hpp>

namespace weft {

struct runtime_options {
  /// 0: one a CPU this process may use.
  unsigned shards = 0;
  pinning pin = pinning::where_it_fits;
  /// What the threads are called, with the shard's number behind it.
  std::string name = "shard";
  /// For each loop; its place in the mesh is the runtime's to give.
  loop_options loop{};
  mesh_options mesh{};
};

class runtime {
 public:
  using main_function = unique_function<task<void>(event_loop&)>;

  explicit runtime(runtime_options options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  /// Returns once every shard has its loop. If one cannot have one, or no thread: why, and none has
  /// run. `main` is called on each shard, by one at a time, and lives as long as the
  /// shards.
  [[nodiscard]] result<void> start(main_function main);
  /// Waits until all shards have ended.
  void join();
  /// start(), and join().
  [[nodiscard]] result<void> run(main_function main);

  [[nodiscard]] unsigned size() const noexcept { return mesh_.size(); }
  [[nodiscard]] mesh& shards() noexcept { return mesh_; }
  /// Runs `work` on `shard`; fails as mesh::post() does.
  result<void> post(unsigned shard, unique_function<void()> work) {
    return mesh_.post(shard, std::move(work));
  }
  void request_stop() noexcept { mesh_.request_stop(); }
  [[nodiscard]] loop_gauges gauges(unsigned shard) const noexcept { return mesh_.gauges(shard); }

 private:
  class start_line;
  void live(unsigned shard, start_line& line);
  void spawn_main(event_loop& loop);
  template <class Work>
  void guarded(Work work);
  void fail_with(std::exception_ptr why);

  runtime_options options_;
  mesh mesh_;
  main_function main_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr failure_;  // under mutex_
};

}  // namespace weft
