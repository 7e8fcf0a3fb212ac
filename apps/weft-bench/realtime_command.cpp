#include "realtime_command.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "realtime_report.hpp"

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/service/command_line.hpp>

namespace weft::bench {
namespace {

constexpr unsigned most_wakeups = 100'000'000;
constexpr unsigned most_rate = 100'000;
constexpr std::array all_loads{load_kind::idle, load_kind::cpu, load_kind::memory,
                               load_kind::network};

/// As the command line has them.
struct given_options {
  unsigned rate = 10'000;
  unsigned wakeups = 100'000;
  unsigned rounds = 5;
  std::string loads = "idle,cpu,memory,network";
  unsigned cpu = usable_cpus() - 1;
  unsigned priority = 80;
  std::string backend = "auto";
  std::string idle = "sleep";
  bool alone = false;
  bool json = false;
  std::string html;
};

std::optional<std::vector<load_kind>> parse_loads(std::string_view text) {
  std::vector<load_kind> loads;
  while (true) {
    const std::string_view name = text.substr(0, text.find(','));
    const auto* const known = std::ranges::find(all_loads, name, &to_string);
    if (known == all_loads.end()) return std::nullopt;
    loads.push_back(*known);
    if (name.size() == text.size()) return loads;
    text.remove_prefix(name.size() + 1);
  }
}

std::string wrong_loads(const std::string& text) {
  return parse_loads(text) ? std::string{} : "a list of idle, cpu, memory and network";
}

std::string wrong_idle(const std::string& text) {
  const auto idle = parse_idle(text);
  return idle ? std::string{} : idle.error();
}

void offer(command_line& cli, given_options& given) {
  cli.option("--rate", given.rate, "Wake-ups a second", "N", most_rate);
  cli.option("--wakeups", given.wakeups, "Wake-ups a run", "N", most_wakeups);
  cli.option("--rounds", given.rounds, "Runs of each, in turn", "N", 1000);
  cli.option("--load", given.loads, "What the other processors do meanwhile, one after the other",
             "LIST", &wrong_loads);
  cli.option("--cpu", given.cpu, "The processor that is measured", "N", 1023);
  cli.option("--priority", given.priority, "Of SCHED_FIFO, from 1 on", "N", 99);
  cli.choice("--backend", given.backend, {"auto", "io_uring", "epoll"}, "weft's");
  cli.option("--idle", given.idle, "weft's: sleep, spin=50us or spin", "HOW", &wrong_idle);
  cli.flag("--alone", given.alone, "Without cyclictest");
  cli.flag("--json", given.json, "A line of JSON a load");
  cli.option("--html", given.html, "A page with the latency curves, too", "FILE");
}

wakeup_plan plan_of(const given_options& given) {
  wakeup_plan plan;
  plan.period = std::chrono::nanoseconds{std::chrono::seconds{1}} / std::max(given.rate, 1U);
  plan.wakeups = std::max(given.wakeups, 100U);
  plan.cpu = given.cpu;
  plan.priority = static_cast<int>(std::max(given.priority, 1U));
  plan.backend = *parse_backend(given.backend);
  plan.idle = *parse_idle(given.idle);
  return plan;
}

/// Says once what there is of what was asked for.
void tell_effects(const wakeup_run& first) {
  if (std::ranges::all_of(first.effects, &realtime::setup_effect::is_applied)) return;
  print(stderr, realtime::to_table(first.effects) + '\n');
}

class comparer {
 public:
  comparer(const wakeup_plan& plan, bool alone) : plan_{plan}, has_cyclictest_{!alone} {}

  wakeup_comparison compare(load_kind load, unsigned rounds) {
    wakeup_comparison found{.load = load, .rounds = {}};
    const background_load beside{load, plan_.cpu};
    if (load != load_kind::idle && !beside.is_there())
      print(stderr,
            weft::format("weft-bench: no other processor for the load '{}'\n", to_string(load)));
    for (unsigned i = 0; i < rounds; ++i) {
      // Who is second in one round is first in the next.
      wakeup_round round;
      if (i % 2 == 1) round.cyclictest = theirs();
      round.weft = run_weft(plan_);
      if (i % 2 == 0) round.cyclictest = theirs();
      if (!std::exchange(has_told_, true)) tell_effects(round.weft);
      found.rounds.push_back(std::move(round));
    }
    return found;
  }

 private:
  std::optional<telemetry::distribution> theirs() {
    if (!has_cyclictest_) return std::nullopt;
    auto run = run_cyclictest(plan_);
    if (run) return *std::move(run);
    has_cyclictest_ = false;
    print(stderr, weft::format("weft-bench: without cyclictest: {}\n", run.error()));
    return std::nullopt;
  }

  wakeup_plan plan_;
  bool has_cyclictest_;
  bool has_told_ = false;
};

bool write_page(const std::string& path, std::string_view page) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return false;
  print(file, page);
  return std::fclose(file) == 0;
}

}  // namespace

int run_realtime_command(int argc, char** argv) {
  given_options given;
  command_line cli{"weft-bench realtime", "How late a thread is woken, beside cyclictest",
                   WEFT_VERSION};
  offer(cli, given);
  if (const auto code = cli.parse(argc, argv)) return *code;
  log::set_level(log::level::warning);
  const wakeup_plan plan = plan_of(given);
  if (!given.json) print(stdout, heading_of(plan));
  comparer beside{plan, given.alone};
  std::vector<wakeup_comparison> all;
  const std::vector<load_kind> loads = *parse_loads(given.loads);
  for (const load_kind load : loads) {
    all.push_back(beside.compare(load, std::max(given.rounds, 1U)));
    print(stdout, given.json ? to_json(plan, all.back()) : to_text(all.back()));
    std::fflush(stdout);
  }
  if (given.html.empty() || write_page(given.html, to_html(plan, all))) return 0;
  print(stderr, weft::format("weft-bench: cannot write '{}'\n", given.html));
  return 1;
}

}  // namespace weft::bench
