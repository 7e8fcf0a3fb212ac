#include "load_command.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "command_line.hpp"
#include "html_report.hpp"
#include "load.hpp"
#include "load_requests.hpp"
#include "options.hpp"
#include "page_file.hpp"
#include "rate_search.hpp"
#include "report.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr int no_reply = 3;

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

// The first Ctrl-C ends the run in order, a second one at once.
void stop_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stop = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
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

protocol spoken_with(const load_options& options) {
  if (is_websocket(options.to.speaks)) return protocol::websocket;
  if (options.http2) return protocol::http2;
  return options.echo ? protocol::echo : protocol::http1;
}

load_plan plan_of(const load_options& options, const address& to) {
  load_plan plan;
  plan.to = to;
  plan.speaks = spoken_with(options);
  if (plan.speaks == protocol::websocket) plan.opening = make_opening(options);
  plan.requests = make_requests(options);
  plan.connections = options.connections;
  plan.pipelined = options.pipelined;
  plan.threads = options.threads;
  plan.rate = options.rate;
  plan.duration = options.duration;
  plan.warm_up = options.warm_up;
  plan.timeout = options.timeout;
  return plan;
}

int load_once(const load_options& options, const load_plan& plan, load_observer* observer,
              page_file page) {
  const load_result result = run_load(plan, stop, observer);
  if (observer != nullptr) clear_progress();
  print(stdout, options.json ? to_json(options, result) : to_text(options, result));
  return page.write(to_html(options, result), exit_status(result));
}

int find_max(const load_options& options, const load_plan& plan, load_observer* observer,
             page_file page) {
  if (!options.json) print(stdout, heading_of_search(options));
  const rate_search_result found =
      search_rate(plan, options.p99_most, stop, observer, [&](const rate_probe& probe) {
        if (observer != nullptr) clear_progress();
        if (!options.json) print(stdout, to_text(probe));
        std::fflush(stdout);
      });
  if (observer != nullptr) clear_progress();
  print(stdout, options.json ? to_json(options, found) : to_text(found));
  return page.write(to_html(options, found), exit_status(found));
}

}  // namespace

int run_load_command(std::span<const std::string_view> arguments) {
  const auto options = parse_load_options(arguments);
  if (!options) return complain("load", options.error());
  if (options->help) {
    print(stdout, load_help);
    return 0;
  }
  rlim_t limit = 0;
  if (!allow_descriptors(options->connections, limit)) {
    return complain("load",
                    weft::format("{} connections need more descriptors than the {} allowed here",
                                 options->connections, limit));
  }
  const auto to = look_up(options->to);
  if (!to) {
    print(stderr, weft::format("weft-bench: {}\n", to.error()));
    return no_reply;
  }
  page_file page{options->html};
  if (!page.could_be_opened())
    return complain("load",
                    weft::format("cannot write '{}': {}", options->html, std::strerror(errno)));
  stop_on_signals();
  terminal_progress progress;
  const bool shows_progress = !options->quiet && ::isatty(STDERR_FILENO) != 0;
  const auto run_it = options->find_max ? &find_max : &load_once;
  load_plan plan = plan_of(*options, *to);
  if (is_secured(options->to.speaks)) {
    auto tls =
        tls_context::make({options->to.host, options->ca_file, options->insecure, options->http2});
    if (!tls) return complain("load", tls.error());
    plan.tls = *std::move(tls);
  }
  return run_it(*options, plan, shows_progress ? &progress : nullptr, std::move(page));
}

}  // namespace weft::bench
