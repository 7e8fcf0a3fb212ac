// One shard of an application: a thread's loop and the services that live on it.
//
// Contract: made and run on its own thread. run() starts the services, reports whether that went
// well, waits until the loop is asked to stop, and stops them. Foreign threads may call
// request_stop() from the report on until run() returns.
//
//   shard here{index, options};
//   bool clean = here.run(installers, on_started);
#pragma once

#include <memory>
#include <span>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/container.hpp>

namespace weft {

class shard {
 public:
  shard(std::unique_ptr<event_loop> loop, duration stop_timeout);
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;
  ~shard();

  [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
  [[nodiscard]] container& services() noexcept { return services_; }

  /// Runs the loop until it is asked to stop. `on_started` is told once whether the services are
  /// up. True: they started and stopped without an error.
  [[nodiscard]] bool run(unique_function<void(bool)> on_started);

  /// Any thread.
  void request_stop();

 private:
  task<void> live(unique_function<void(bool)> on_started);

  std::unique_ptr<event_loop> loop_;
  container services_;
  duration stop_timeout_;
  bool clean_ = false;
};

}  // namespace weft
