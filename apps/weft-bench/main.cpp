// weft-bench: measures servers. For now one command, `load`; `weft-bench load --help` tells all.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <format>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace weft::bench;

constexpr int wrong_use = 2;
constexpr int no_reply = 3;

constexpr std::string_view help =
    R"(Usage: weft-bench load URL [options]

  load    puts a closed-loop load on a server and reports rate, latency and errors;
          `weft-bench load --help` lists its options
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

int complain(const std::string& what) {
  print(stderr, std::format("weft-bench: {}\nTry `weft-bench load --help`.\n", what));
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
    print(stderr, std::format("\r{}\x1b[K", line));
    written_ = true;
  }
  void clear() const {
    if (written_) print(stderr, "\r\x1b[K");
  }

 private:
  bool written_ = false;
};

int load(std::span<const std::string_view> arguments) {
  const auto options = parse_load_options(arguments);
  if (!options) return complain(options.error());
  if (options->help) {
    print(stdout, load_help);
    return 0;
  }
  rlim_t limit = 0;
  if (!allow_descriptors(options->connections, limit)) {
    return complain(std::format("{} connections need more descriptors than the {} allowed here",
                                options->connections, limit));
  }
  const auto to = look_up(options->to);
  if (!to) {
    print(stderr, std::format("weft-bench: {}\n", to.error()));
    return no_reply;
  }

  load_plan plan{.to = *to, .request = make_request(*options)};
  if (options->echo) {
    plan.expects = reply_kind::echo;
  } else if (options->method == "HEAD") {
    plan.expects = reply_kind::http_to_head;
  }
  plan.connections = options->connections;
  plan.duration = options->duration;
  plan.warm_up = options->warm_up;
  plan.timeout = options->timeout;

  stop_on_signals();
  terminal_progress progress;
  const bool shows_progress = !options->quiet && ::isatty(STDERR_FILENO) != 0;
  const load_result result = run_load(plan, stop, shows_progress ? &progress : nullptr);
  progress.clear();
  print(stdout, options->json ? to_json(*options, result) : to_text(*options, result));
  return exit_status(result);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    print(stderr, help);
    return wrong_use;
  }
  if (arguments[0] == "load") return load(std::span{arguments}.subspan(1));
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    print(stdout, help);
    return 0;
  }
  if (arguments[0] == "--version") {
    print(stdout, "weft-bench " WEFT_VERSION "\n");
    return 0;
  }
  return complain(std::format("no command '{}'; did you mean 'load'?", arguments[0]));
}
