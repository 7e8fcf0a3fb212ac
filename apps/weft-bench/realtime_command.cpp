#include "realtime_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "page_file.hpp"
#include "readable.hpp"
#include "realtime_report.hpp"

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/service/command_line.hpp>

namespace weft::bench {
namespace {

constexpr unsigned most_wakeups = 100'000'000;
constexpr unsigned most_rate = 100'000;
constexpr unsigned least_wakeups = 100;  // of which a percentile can be told
/// Of a run: as long as one at 10 kHz takes.
constexpr std::chrono::seconds piece_max{10};
constexpr std::array all_loads{load_kind::idle, load_kind::cpu, load_kind::memory,
                               load_kind::network};

/// As the command line has them.
struct given_options {
  unsigned rate = 10'000;
  unsigned wakeups = 100'000;
  unsigned rounds = 5;
  std::string loads = "idle,cpu,memory,network";
  unsigned cpu = last_usable_cpu();
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
  cli.option("--rate", given.rate, "Wake-ups a second, from 1 on", "N", most_rate);
  cli.option("--wakeups", given.wakeups, "Wake-ups a run, from 100 on", "N", most_wakeups);
  cli.option("--rounds", given.rounds, "Runs of each, in turn, from 1 on", "N", 1000);
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

/// What is wrong with numbers that are too small to measure with; empty: nothing.
std::string too_few(const given_options& given) {
  struct floor {
    std::string_view option;
    unsigned value;
    unsigned least;
  };
  for (const auto& [option, value, least] :
       {floor{"--rate", given.rate, 1}, floor{"--wakeups", given.wakeups, least_wakeups},
        floor{"--rounds", given.rounds, 1}, floor{"--priority", given.priority, 1}})
    if (value < least) return weft::format("{} {}: at least {}", option, value, least);
  return {};
}

wakeup_plan plan_of(const given_options& given) {
  wakeup_plan plan;
  plan.period = std::chrono::nanoseconds{std::chrono::seconds{1}} / given.rate;
  plan.wakeups = given.wakeups;
  plan.cpu = given.cpu;
  plan.priority = static_cast<int>(given.priority);
  plan.backend = *parse_backend(given.backend);
  plan.idle = *parse_idle(given.idle);
  return plan;
}

/// Says once what there is of what was asked for.
void tell_effects(const wakeup_run& first) {
  if (std::ranges::all_of(first.effects, &realtime::setup_effect::is_applied)) return;
  print(stderr, realtime::to_table(first.effects) + '\n');
}

void add(wakeup_run& to, wakeup_run piece) {
  to.latency.merge(piece.latency);
  to.page_faults += piece.page_faults;
  to.effects = std::move(piece.effects);
}

class comparer {
 public:
  comparer(const wakeup_plan& plan, bool alone) : plan_{plan}, has_cyclictest_{!alone} {}

  std::expected<wakeup_comparison, std::string> compare(load_kind load, unsigned rounds) {
    wakeup_comparison found{.load = load, .rounds = {}};
    const background_load beside{load, plan_.cpu};
    if (load != load_kind::idle && !beside.is_there())
      print(stderr,
            weft::format("weft-bench: no other processor for the load '{}'\n", to_string(load)));
    for (unsigned i = 0; i < rounds; ++i) {
      auto round = run_round(load, i, rounds);
      if (!round) return std::unexpected{round.error()};
      found.rounds.push_back(*std::move(round));
    }
    return found;
  }

 private:
  /// Piece by piece: what the machine's host does comes and goes, and is to meet both alike.
  std::expected<wakeup_round, std::string> run_round(load_kind load, unsigned number,
                                                     unsigned rounds) {
    wakeup_round round;
    const auto piece = static_cast<std::uint64_t>(piece_max / plan_.period);
    for (std::uint64_t done = 0; done < plan_.wakeups; done += piece) {
      if (shows_progress_)
        print(stderr, weft::format("\r{}: round {} of {}, {} of {} wake-ups ", to_string(load),
                                   number + 1, rounds, grouped(done), grouped(plan_.wakeups)));
      wakeup_plan part = plan_;
      part.wakeups = std::min(piece, plan_.wakeups - done);
      // Who is second in one piece is first in the next.
      const bool is_ours_first = (number + done / piece) % 2 == 0;
      if (!is_ours_first) run_theirs(part, round);
      auto ours = run_weft(part);
      if (!ours) return std::unexpected{ours.error()};
      add(round.weft, *std::move(ours));
      if (is_ours_first) run_theirs(part, round);
      if (!std::exchange(has_told_, true)) tell_effects(round.weft);
    }
    if (shows_progress_) print(stderr, "\r\x1b[K");
    return round;
  }

  void run_theirs(const wakeup_plan& part, wakeup_round& into) {
    if (!has_cyclictest_) return;
    if (const auto run = run_cyclictest(part)) {
      if (!into.cyclictest) into.cyclictest.emplace();
      into.cyclictest->merge(*run);
    } else {
      has_cyclictest_ = false;
      into.cyclictest.reset();
      print(stderr, weft::format("weft-bench: without cyclictest: {}\n", run.error()));
    }
  }

  wakeup_plan plan_;
  bool has_cyclictest_;
  bool has_told_ = false;
  bool shows_progress_ = ::isatty(STDERR_FILENO) == 1;
};

}  // namespace

int run_realtime_command(int argc, char** argv) {
  given_options given;
  command_line cli{"weft-bench realtime", "How late a thread is woken, beside cyclictest",
                   WEFT_VERSION};
  offer(cli, given);
  if (const auto code = cli.parse(argc, argv)) return *code;
  if (const std::string fault = too_few(given); !fault.empty()) {
    print(stderr, weft::format("weft-bench: {}\n", fault));
    return command_line::exit_usage;
  }
  page_file page{given.html};
  if (!page.could_be_opened())
    return complain("realtime",
                    weft::format("cannot write '{}': {}", given.html, std::strerror(errno)));
  log::set_level(log::level::warning);
  const wakeup_plan plan = plan_of(given);
  comparer beside{plan, given.alone};
  std::vector<wakeup_comparison> all;
  const std::vector<load_kind> loads = *parse_loads(given.loads);
  for (const load_kind load : loads) {
    auto found = beside.compare(load, given.rounds);
    if (!found) {
      print(stderr, weft::format("weft-bench: {}\n", found.error()));
      return 1;
    }
    if (all.empty() && !given.json) print(stdout, heading_of(plan, *found));
    all.push_back(*std::move(found));
    print(stdout, given.json ? to_json(plan, all.back()) : to_text(all.back()));
    std::fflush(stdout);
  }
  return page.write(to_html(plan, all), 0);
}

}  // namespace weft::bench
