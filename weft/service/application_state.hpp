// What an application is made of. Internal to its sources.
//
// Contract: as application.hpp says; `mutex` guards what other shards than the first may touch.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/base/memory_budget.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/stall_watch.hpp>
#include <weft/net/address_book.hpp>
#include <weft/service/application.hpp>
#include <weft/service/application_settings.hpp>
#include <weft/telemetry/registry.hpp>

namespace weft {

class event_loop;
class shard;
namespace detail {
class signal_watch;
}

struct application::state {
  state(int count, char** values, application_options program)
      : argc{count},
        argv{values},
        options{std::move(program)},
        cli{options.name.empty() ? program_name(values[0]) : options.name, options.about,
            options.version} {
    settings.offer(cli, given);
  }

  void complain(const std::string& fault) const;
  [[nodiscard]] std::optional<int> configure();
  int run();
  void run_shard(unsigned index, detail::signal_watch* signals);
  void add_services(shard& here, telemetry::registry& numbers);
  [[nodiscard]] int print_graph();
  void on_started(unsigned index, bool up);
  void on_stopping(std::optional<std::size_t> connections);
  void start_others();
  void give_up_from(unsigned first);
  void enlist(shard& here);
  void discharge(shard& here);
  void stop_all();
  void watch_stalls();
  void limit_memory();
  [[nodiscard]] std::uint32_t buffers_of_shard() const noexcept;
  void begin();
  void end();
  void watch_end();
  void ask_for_leftovers();
  void tell_leftovers(shard& of) const;
  task<void> watch_signals(event_loop& loop, detail::signal_watch& signals);
  void read_again() noexcept;

  int argc;
  char** argv;
  application_options options;
  command_line cli;
  config given;
  detail::application_settings settings{{.threads = options.threads,
                                         .stop_timeout = options.stop_timeout,
                                         .stall_limit = options.stall_limit},
                                        options.realtime,
                                        options.log_level};
  bool parsed = false;
  std::vector<installer> installers;
  std::vector<unique_function<void(config&)>> introductions;  // of services' options
  net::address_book addresses;
  std::vector<unique_function<std::vector<std::string>()>> checks;  // of all options together
  unique_function<void()> ready;
  std::atomic<unsigned> started{0};
  std::atomic<bool> clean{true};
  std::vector<std::thread> others;  // all shards but the first, which is the main thread's

  memory_budget memory;                 // limited from begin() on; outlives the shards
  std::unique_ptr<mesh> shards_mesh;    // from begin() on
  std::unique_ptr<stall_watch> stalls;  // if there is a limit
  std::optional<telemetry::registry> metrics;
  telemetry::source_registration loops_counted;

  std::mutex mutex;
  // All under mutex.
  std::vector<shard*> shards;  // running now
  bool running = false;
  bool stop_requested = false;
  std::chrono::steady_clock::time_point stop_requested_at;
  unsigned stopping = 0;                       // shards that have told of it
  std::optional<std::size_t> open_at_stop;     // connections, of those
  std::vector<std::vector<std::string>> left;  // what shards say of it, by shard, once asked
  std::size_t asked = 0;                       // who has not said it yet
  std::thread watchdog;
  std::condition_variable ended;
};

}  // namespace weft
