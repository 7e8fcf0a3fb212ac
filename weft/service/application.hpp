// A program of services: reads its command line, runs one event loop a shard with its services on
// it, and ends cleanly on SIGINT or SIGTERM. On SIGHUP, what the log is to say is read again, and
// services with a `result<void> reload()` are called on all shards.
//
// Contract: add<T>() makes one T on every shard (shared nothing), built by its constructor's needs;
// add<T>().single() makes one in all (remote.hpp).
// run() parses the command line if that has not been done, reads the options of all services
// (config.hpp), starts the services in dependency order on all shards, waits for a signal or for
// request_stop(), stops them in reverse order within stop_timeout, and gives the exit code: 0 after
// a clean end, 1 when a service did not start, 2 for a wrong command line or option. A second
// signal ends the process at once. What has not ended end_timeout after the stop_timeout cannot be
// ended from outside: then the log says what is waited for, with the tasks, timers, buffers and
// operations that each shard has left, and the process ends with exit code 1, from within run().
// All but request_stop() belong to the main thread, before run().
//
//   int main(int argc, char** argv) {
//     weft::application app{argc, argv};
//     app.add<weft::http::server>({.listen = "127.0.0.1:8080"});
//     app.add<ping_api>();
//     return app.run();
//   }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/base/log.hpp>
#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/service/added_service.hpp>
#include <weft/service/command_line.hpp>
#include <weft/service/config.hpp>
#include <weft/service/container.hpp>
#include <weft/service/realtime_options.hpp>

namespace weft::net {
class address_book;
}

namespace weft {

struct application_options {
  /// Shown by --help and --version; the name defaults to the program's file name.
  std::string name{};
  std::string about{};
  std::string version{};
  /// Shards, each a thread with a loop of its own. 0: one a CPU this process may use.
  unsigned threads = 1;
  /// How long services have to stop, whole seconds for --stop-timeout; a day at most.
  duration stop_timeout = std::chrono::seconds{10};
  /// How long what is cut then may take to end: longer than a dropped stream takes for its last
  /// bytes.
  duration end_timeout = std::chrono::seconds{6};
  /// A task that keeps its shard for longer than this is named in the log. Zero: nobody looks.
  duration stall_limit = std::chrono::milliseconds{100};
  /// The least severe messages to print, unless somebody says another.
  log::level log_level = log::level::info;
  /// What each shard asks of the system.
  realtime_options realtime{};
};

class application {
 public:
  application(int argc, char** argv, application_options options = {});
  application(const application&) = delete;
  application& operator=(const application&) = delete;
  ~application();

  /// The program's own options go here, next to --threads, --backend, --idle, --stop-timeout,
  /// --log-level, --log-format, --config, --set, --check-config, --print-config, --print-graph,
  /// --help and --version.
  [[nodiscard]] command_line& options() noexcept;

  /// Reads the command line now, so that what it set can be used for add(). An exit code if the
  /// program ends with that:
  /// --help and --version were answered (0), or an option was wrong (2, and why is on stderr).
  [[nodiscard]] std::optional<int> parse();

  /// One T on every shard, from these options, which are copied to each. What the program does not
  /// say here, and what it does, can be said in a file, the environment and the command line, under
  /// its name, else the section that config.hpp's section_of() gives it.
  template <class T>
  added_service<T> add(options_of<T> options = {}) {
    using options_type = options_of<T>;
    added_service<T> added;
    auto kept = std::make_shared<options_type>(std::move(options));
    if constexpr (std::is_aggregate_v<options_type> && !std::is_empty_v<options_type>)
      introduce([kept, name = added.name()](config& given) {
        given.bind(given.unused(name->empty() ? section_of(type_name<T>) : *name), *kept);
      });
    install([kept, said = added.said(), single = added.single_as(),
             wanted = added.wanted()](container& services) {
      if (*wanted && !(*wanted)()) return;
      added_service<T>::install(services, *kept, *said, *single);
    });
    return added;
  }

  /// What the T that was added as `name`, or without one, is made from, once run() has heard
  /// everybody: for check_options() and on_ready().
  template <class T>
  [[nodiscard]] const options_of<T>& options_for(std::string_view name = {}) {
    const void* const found =
        given().find(name.empty() ? section_of(type_name<T>) : std::string{name});
    WEFT_ASSERT(found != nullptr, "options_for<T>() is for a T with options that was added");
    return *static_cast<const options_of<T>*>(found);
  }

  /// `f` says what is wrong with the options taken together, a line each; asked once, when they
  /// have been read and before any service is made. A line or more: the program ends with exit code
  /// 2, as for any wrong option.
  void check_options(unique_function<std::vector<std::string>()> f);

  /// `f` is called once, on one of the shards, when all have started: the place to tell people
  /// where to go.
  void on_ready(unique_function<void()> f);

  /// Whether --log-format or log.format ask for JSON: then a program reads the output, and hints
  /// for people are left out. After parse().
  [[nodiscard]] bool logs_json() const noexcept;

  /// The addresses this program listens on.
  [[nodiscard]] net::address_book& addresses() noexcept;

  [[nodiscard]] int run();

  /// Asks a running application to end. Any thread.
  void request_stop();

 private:
  struct state;
  using installer = unique_function<void(container&), 128>;
  void install(installer add_service);
  /// Has `bind` called when run() begins, when all that is said of services has been.
  void introduce(unique_function<void(config&)> bind);
  [[nodiscard]] config& given() noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace weft
