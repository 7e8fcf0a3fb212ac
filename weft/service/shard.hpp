// One shard of an application: a thread's loop and the services that live on it.
//
// Contract: made and run on its own thread. run() starts the services, reports whether that went
// well, waits until the loop is asked to stop, reports how many connections are open then, and
// stops the services. Foreign threads may call progress() from the making on until run() returns.
//
//   shard here{index, std::move(loop), stop_timeout};
//   bool clean = here.run({.started = ..., .stopping = ...});
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/container.hpp>

namespace weft {

class shard {
 public:
  /// Whom run() tells, each once. `stopping` is not told when the services did not start.
  struct reports {
    unique_function<void(bool up)> started;
    unique_function<void(std::optional<std::size_t> connections)> stopping;
  };

  shard(unsigned index, std::unique_ptr<event_loop> loop, duration stop_timeout);
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;
  ~shard();

  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
  [[nodiscard]] container& services() noexcept { return services_; }

  /// Runs the loop until it is asked to stop and all its tasks have ended. True: the services
  /// started and stopped without an error.
  [[nodiscard]] bool run(reports tell);

  /// Has its services read anew what they have from files. Any thread.
  void reload();

  /// What it waits for, to be said by a program that waits for it. Any thread.
  [[nodiscard]] std::string progress() const;

 private:
  enum class phase : std::uint8_t { starting, running, stopping, ending };
  task<void> live(reports tell);
  task<bool> stop_services();

  unsigned index_;
  std::unique_ptr<event_loop> loop_;
  container services_;
  duration stop_timeout_;
  bool clean_ = false;
  std::atomic<phase> phase_{phase::starting};
};

}  // namespace weft
