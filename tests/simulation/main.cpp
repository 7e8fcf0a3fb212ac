// Runs seeds until told enough, and says what has happened in them.
//
//   weft_simulation --seeds 100000             from 1 on; those that once failed go first
//   weft_simulation --seeds 1 --first 17       one of them
//   WEFT_SEED=17 weft_simulation               the same, with what the library logs
//   weft_simulation --only towns               one of the scenarios: towns or traffic
//   weft_simulation --recorded FILE            a seed a line, before all others
//   weft_simulation --fingerprints             prints seed and trace hash instead of counts
#include <malloc.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

#include "scenario.hpp"
#include "town.hpp"

namespace weft::simulation {
namespace {

struct options {
  std::uint64_t seeds = 2'000;
  std::uint64_t first = 1;
  std::string recorded;
  bool has_traffic = true;
  bool has_towns = true;
  bool quiet = false;
  bool prints_fingerprints = false;
};

struct sums {
  std::uint64_t seeds = 0;
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t turns = 0;
  town_outcome towns{};
  sim_fault_counts faults{};
  std::uint64_t worlds_with[sim_fault_count]{};

  void add(const outcome& one, const town_outcome& town) {
    ++seeds;
    connections += one.connections;
    requests += one.requests;
    replies += one.replies;
    turns += one.turns + town.turns;
    towns += town;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      faults[i] += one.faults[i] + town.faults[i];
      worlds_with[i] += (one.faults[i] != 0 ? 1 : 0) + (town.faults[i] != 0 ? 1 : 0);
    }
  }
};

std::optional<options> parse(std::span<char*> arguments) {
  options o;
  const auto number = [](std::string_view text, std::uint64_t& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
  };
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--quiet" || name == "--fingerprints") {
      (name == "--quiet" ? o.quiet : o.prints_fingerprints) = true;
      continue;
    }
    if (++i == arguments.size()) return std::nullopt;
    const std::string_view value = arguments[i];
    const bool is_known = (name == "--seeds" && number(value, o.seeds)) ||
                          (name == "--first" && number(value, o.first)) || name == "--recorded" ||
                          (name == "--only" && (value == "towns" || value == "traffic"));
    if (!is_known) return std::nullopt;
    if (name == "--recorded") o.recorded = value;
    if (name == "--only") (value == "towns" ? o.has_traffic : o.has_towns) = false;
  }
  return o;
}

bool run_one(std::uint64_t seed, const options& o, sums& all) {
  try {
    const outcome one = o.has_traffic ? run_scenario(seed) : outcome{};
    const town_outcome town = o.has_towns ? run_town(seed) : town_outcome{};
    all.add(one, town);
    if (o.prints_fingerprints)
      std::puts(
          weft::format("{} {:016x} {:016x}", seed, one.fingerprint, town.fingerprint).c_str());
    return true;
  } catch (const std::exception& why) {
    std::fputs(
        weft::format("seed {} failed after {} others: {}\n", seed, all.seeds, why.what()).c_str(),
        stderr);
    return false;
  }
}

bool run_recorded(const options& o, sums& all) {
  std::ifstream file{o.recorded};
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#' &&
        !run_one(std::strtoull(line.c_str(), nullptr, 0), o, all))
      return false;
  return true;
}

void print(const sums& all) {
  // Processor time: what else the machine does is no matter.
  const double seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const double minutes = seconds / 60;
  std::puts(
      weft::format(
          "{} seeds in {:.1f} s of one core, {:.0f} a minute: {} connections, {} requests, {} "
          "replies, {} turns",
          all.seeds, seconds, static_cast<double>(all.seeds) / minutes, all.connections,
          all.requests, all.replies, all.turns)
          .c_str());
  const town_outcome& towns = all.towns;
  std::puts(
      weft::format("towns: {} services started, {} failed, {} changes, {} of them refused, {} "
                   "news told, {} lost with their bus, {} calls, {} waits",
                   towns.starts, towns.failures, towns.changes, towns.refusals, towns.news,
                   towns.lost, towns.calls, towns.waits)
          .c_str());
  for (std::size_t i = 0; i < all.faults.size(); ++i)
    std::puts(weft::format("  {:22} {:12} times, in {} worlds",
                           to_string(static_cast<sim_fault>(i)), all.faults[i], all.worlds_with[i])
                  .c_str());
}

int run(const options& o) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  sums all;
  bool is_well = run_recorded(o, all);
  const std::uint64_t first = testing::sim_world::seed_or(o.first);
  const std::uint64_t count = first == o.first ? o.seeds : 1;
  for (std::uint64_t i = 0; is_well && i < count; ++i) {
    is_well = run_one(first + i, o, all);
    if (!o.quiet && (i + 1) % 5'000 == 0)
      std::fputs(weft::format("{} of {} seeds, {:.0f} s\n", i + 1, count, seconds()).c_str(),
                 stderr);
  }
  if (!o.prints_fingerprints) print(all);
  return is_well ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace weft::simulation

int main(int argc, char** argv) {
  // What one world gives back the next one takes: the system need not clear it in between.
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  weft::log::set_level(std::getenv("WEFT_SEED") != nullptr ? weft::log::level::debug
                                                           : weft::log::level::off);
  const auto options = weft::simulation::parse({argv, static_cast<std::size_t>(argc)});
  if (!options) {
    std::fputs(
        "weft_simulation [--seeds N] [--first N] [--only towns|traffic] [--recorded FILE] "
        "[--fingerprints] [--quiet]\n",
        stderr);
    return 2;
  }
  return weft::simulation::run(*options);
}
