// What services are let loose in: a town of one to three shards, each with a graph of services of
// its own, drawn from a seed, of which some fail to start, while many ask for others to be started,
// stopped, restarted and removed, tell each other news and call the one hall.
//
// Contract: run_town() makes a world from a seed, runs it and checks that
//   - nobody is used, called or told anything after its end, nor seen by a maybe or a many then;
//   - who has started is stopped once, before what it needs, and nobody else is;
//   - news are told once each, to no other shard than that they are for, the most urgent first, and
//     within a band in order, or are lost with a bus that was being stopped, and nowhere else;
//   - a call of the hall runs once, while the hall is open, and is answered;
//   - who waits for a service hears of it when it is there, and who watches hears of all who come
//     and go;
//   - when nothing fails any more, all can be had that still has what it needs, and nothing is left.
// It throws weft::testing::sim_failure, which names the seed.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string_view>
#include <vector>

#include <weft/loop/sim/sim_trace.hpp>
#include <weft/service/container.hpp>
#include <weft/testing/sim_world.hpp>

#include "town_news.hpp"

namespace weft::simulation {

class resident;

struct town_outcome {
  std::uint64_t fingerprint = 0;
  std::uint64_t turns = 0;
  std::uint64_t starts = 0;    // of services
  std::uint64_t failures = 0;  // to start, or to be made
  std::uint64_t changes = 0;   // asked for
  std::uint64_t refusals = 0;  // of changes
  std::uint64_t news = 0;      // told
  std::uint64_t lost = 0;      // with a bus
  std::uint64_t calls = 0;     // of the hall
  std::uint64_t waits = 0;     // for the tower
  sim_fault_counts faults{};

  town_outcome& operator+=(const town_outcome& other) noexcept;
};

/// One service of a street, for those who ask for changes of it.
struct plot {
  service_handle handle;
  std::vector<std::size_t> needs{};  // plots, whose services it cannot be without
  bool is_resident = true;           // others may be bound to it
  bool needs_tower = false;
  bool may_be_removed = false;  // somebody has asked for it
};

struct town;

/// What belongs to one shard, in one life of its host.
struct street {
  street(town& in, testing::sim_shard& on) noexcept : all{in}, shard{on} {}
  street(const street&) = delete;
  street& operator=(const street&) = delete;

  [[nodiscard]] task<void> pause(duration most);
  [[nodiscard]] bool stops() const noexcept;
  /// Whether its services fail and change as they like.
  [[nodiscard]] bool is_wild() const noexcept;

  town& all;
  testing::sim_shard& shard;
  container* services = nullptr;
  unsigned residents = 0;
  std::vector<plot> plots{};
  std::vector<const resident*> up{};  // in the order of their starts
  bool is_settled = false;            // all have started
  bool in_reverse = false;            // from now on the last to start is the first to stop
  bool is_ending = false;             // all are being stopped
  post_office office{};
  service_handle tower{};         // which comes and goes
  std::uint64_t tower_since = 0;  // the turn of its start
  unsigned waiting_for_tower = 0;
};

struct town {
  town(testing::sim_world& in, unsigned shards) : world{in}, dice{in.dice()}, now(shards) {}

  void require(bool holds, std::string_view what) { world.expect(holds, what); }
  template <class... Numbers>
  void note(Numbers... numbers) noexcept {
    trace.note(numbers...);
  }

  testing::sim_world& world;
  random& dice;
  town_outcome seen{};
  sim_trace trace{};
  bool may_fail_to_open = false;  // services fail in the first start, too
  unsigned storms = 0;            // streets in which changes go on
  unsigned unsettled = 0;         // in which not all has been started again
  std::uint64_t objects = 0;
  std::uint32_t buses = 0;
  std::set<std::uint64_t> alive{};  // numbers of residents
  std::deque<street> streets{};     // of all lives
  std::vector<street*> now;         // of this one, by shard; nullptr: not begun
  news_ledger ledger{*this};
  // The hall's.
  std::vector<unsigned> calls{};   // by number: how often they have come
  std::uint64_t doors_closed = 0;  // how often
  bool door_is_open = false;
};

[[nodiscard]] town_outcome run_town(std::uint64_t seed);

}  // namespace weft::simulation
