// weft-bench: measures servers, and weft itself. `weft-bench --help` lists the commands.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event_workload.hpp"
#include "load.hpp"
#include "options.hpp"
#include "rate_search.hpp"
#include "report.hpp"
#include "serializer_workload.hpp"
#include "service_workload.hpp"
#include "workload.hpp"

#include <weft/base/format.hpp>

namespace {

using namespace weft::bench;

constexpr int wrong_use = 2;
constexpr int no_reply = 3;

constexpr std::string_view help =
    R"(Usage: weft-bench load URL [options]
       weft-bench coroutine|event|start|start-stop|serializer [options]

  load         puts a load on a server and reports rate, latency and errors
  coroutine    resumes a coroutine by a coroutine of an event, millions of times
  event        fills the event queue and tells what is in it
  start        makes, starts and stops services
  start-stop   stops and starts one that another needs
  serializer   writes and reads JSON

`weft-bench COMMAND --help` lists a command's options.
)";

volatile std::sig_atomic_t stop = 0;

// The first Ctrl-C ends the run in order, a second one at once.
void stop_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stop = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

void print(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

int complain(const std::string& what, std::string_view command = "load") {
  print(stderr, weft::format("weft-bench: {}\nTry `weft-bench {} --help`.\n", what, command));
  return wrong_use;
}

// Each connection needs a descriptor. Raises the limit as far as it goes; false if that is short.
bool allow_descriptors(int connections, rlim_t& limit) {
  constexpr rlim_t others = 16;
  const rlim_t needed = static_cast<rlim_t>(connections) + others;
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  limit = now.rlim_max;
  if (now.rlim_cur >= needed) return true;
  now.rlim_cur = now.rlim_max;
  return now.rlim_max >= needed && ::setrlimit(RLIMIT_NOFILE, &now) == 0;
}

// Writes one line over the last.
class terminal_progress final : public load_observer {
 public:
  void on_progress(double seconds, bool warming_up, const load_counts& so_far,
                   const weft::telemetry::distribution& latency) override {
    const std::string line = progress_line(seconds, warming_up, so_far, latency);
    print(stderr, weft::format("\r{}\x1b[K", line));
  }
};

void clear_progress() { print(stderr, "\r\x1b[K"); }

load_plan plan_of(const load_options& options, const address& to) {
  load_plan plan{.to = to, .request = make_request(options)};
  if (options.echo) {
    plan.expects = reply_kind::echo;
  } else if (options.method == "HEAD") {
    plan.expects = reply_kind::http_to_head;
  }
  plan.connections = options.connections;
  plan.rate = options.rate;
  plan.duration = options.duration;
  plan.warm_up = options.warm_up;
  plan.timeout = options.timeout;
  return plan;
}

int load_once(const load_options& options, const load_plan& plan, load_observer* observer) {
  const load_result result = run_load(plan, stop, observer);
  if (observer != nullptr) clear_progress();
  print(stdout, options.json ? to_json(options, result) : to_text(options, result));
  return exit_status(result);
}

int find_max(const load_options& options, const load_plan& plan, load_observer* observer) {
  if (!options.json) print(stdout, heading_of_search(options));
  const rate_search_result found =
      search_rate(plan, options.p99_most, stop, observer, [&](const rate_probe& probe) {
        if (observer != nullptr) clear_progress();
        if (!options.json) print(stdout, to_text(probe));
        std::fflush(stdout);
      });
  if (observer != nullptr) clear_progress();
  print(stdout, options.json ? to_json(options, found) : to_text(found));
  return exit_status(found);
}

int load(std::span<const std::string_view> arguments) {
  const auto options = parse_load_options(arguments);
  if (!options) return complain(options.error());
  if (options->help) {
    print(stdout, load_help);
    return 0;
  }
  rlim_t limit = 0;
  if (!allow_descriptors(options->connections, limit)) {
    return complain(weft::format("{} connections need more descriptors than the {} allowed here",
                                 options->connections, limit));
  }
  const auto to = look_up(options->to);
  if (!to) {
    print(stderr, weft::format("weft-bench: {}\n", to.error()));
    return no_reply;
  }
  stop_on_signals();
  terminal_progress progress;
  const bool shows_progress = !options->quiet && ::isatty(STDERR_FILENO) != 0;
  const auto run_it = options->find_max ? &find_max : &load_once;
  return run_it(*options, plan_of(*options, *to), shows_progress ? &progress : nullptr);
}

constexpr std::array<workload, 5> workloads{{
    {.name = "coroutine", .run = &run_coroutines, .count = 5'000'000},
    {.name = "event", .run = &run_events, .count = 5'000'000},
    {.name = "start", .run = &run_starts, .count = 1},
    {.name = "start-stop", .run = &run_start_stops, .count = 1'000'000},
    {.name = "serializer", .run = &run_serializer, .count = 5'000'000},
}};

int run(const workload& what, std::span<const std::string_view> arguments) {
  const auto options = parse_workload_options(arguments);
  if (!options) return complain(options.error(), what.name);
  if (options->help) {
    print(stdout, workload_help);
    return 0;
  }
  return run_workload(what, *options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    print(stderr, help);
    return wrong_use;
  }
  const auto rest = std::span{arguments}.subspan(1);
  if (arguments[0] == "load") return load(rest);
  const auto* const named = std::ranges::find(workloads, arguments[0], &workload::name);
  if (named != workloads.end()) return run(*named, rest);
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    print(stdout, help);
    return 0;
  }
  if (arguments[0] == "--version") {
    print(stdout, "weft-bench " WEFT_VERSION "\n");
    return 0;
  }
  std::string names = "load";
  for (const workload& each : workloads) names += weft::format(", {}", each.name);
  return complain(weft::format("no command '{}', but {}", arguments[0], names));
}
