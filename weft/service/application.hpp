// A program of services: reads its command line, runs one event loop a shard with its services on
// it, and ends cleanly on SIGINT or SIGTERM.
//
// Contract: add<T>() makes one T on every shard (shared nothing), built by its constructor's needs.
// run() parses the command line if that has not been done, starts the services in dependency order
// on all shards, waits for a signal or for request_stop(), stops them in reverse order within
// stop_timeout, and gives the exit code: 0 after a clean end, 1 when a service did not start, 2 for
// a wrong command line. A second signal ends the process at once. What has not ended end_timeout
// after the stop_timeout cannot be ended from outside: then the log says what is waited for, and
// the process ends with exit code 1, from within run(). All but request_stop() belong to the main
// thread, before run().
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
#include <utility>

#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/service/added_service.hpp>
#include <weft/service/command_line.hpp>
#include <weft/service/container.hpp>

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
};

class application {
 public:
  application(int argc, char** argv, application_options options = {});
  application(const application&) = delete;
  application& operator=(const application&) = delete;
  ~application();

  /// The program's own options go here, next to --threads, --backend, --idle, --stop-timeout,
  /// --log-level, --help and --version.
  [[nodiscard]] command_line& options() noexcept;

  /// Reads the command line now, so that what it set can be used for add(). An exit code if the
  /// program ends with that:
  /// --help and --version were answered (0), or an option was wrong (2, and why is on stderr).
  [[nodiscard]] std::optional<int> parse();

  /// One T on every shard, from these options, which are copied to each.
  template <class T>
  added_service<T> add(options_of<T> options = {}) {
    added_service<T> added;
    install([options = std::move(options), said = added.said()](container& services) {
      auto builder = services.add<T>(options);
      for (auto& each : *said) each(builder);
    });
    return added;
  }

  /// `f` is called once, on one of the shards, when all have started: the place to tell people
  /// where to go.
  void on_ready(unique_function<void()> f);

  /// The addresses this program listens on.
  [[nodiscard]] net::address_book& addresses() noexcept;

  [[nodiscard]] int run();

  /// Asks a running application to end. Any thread.
  void request_stop();

 private:
  struct state;
  using installer = unique_function<void(container&), 128>;
  void install(installer add_service);
  std::unique_ptr<state> state_;
};

}  // namespace weft
