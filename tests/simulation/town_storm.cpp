#include "town_storm.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/everywhere.hpp>

#include "resident.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

/// In so many turns who waits for a service has heard of it.
constexpr std::uint64_t turns_to_hear = 4;

enum class change : std::uint8_t { start, stop, restart, remove };

change draw_change(random& dice) {
  const std::uint64_t drawn = dice.below(10);
  if (drawn == 0) return change::remove;
  if (drawn < 4) return change::stop;
  return drawn < 7 ? change::restart : change::start;
}

task<result<void>> ask_for(street& here, change what, service_handle one) {
  switch (what) {
    case change::start: co_return co_await here.services->start(one);
    case change::stop: co_return co_await here.services->stop(one);
    case change::restart: co_return co_await here.services->restart(one);
    case change::remove: co_return co_await here.services->remove(one);
  }
  std::unreachable();
}

/// With or without patience.
task<void> change_one(street& here, change what, service_handle one) {
  town& all = here.all;
  ++all.seen.changes;
  const bool in_haste = all.dice.chance(1, 4);
  const auto patience = all.dice.between(0, 6) * 1ms;
  result<void> how;
  if (in_haste)
    how = co_await with_timeout(patience, ask_for(here, what, one));
  else
    how = co_await ask_for(here, what, one);
  if (!how) ++all.seen.refusals;
  all.note(10 + static_cast<unsigned>(what), one.index,
           how ? 0 : static_cast<std::uint64_t>(how.error().code()));
}

void add_neighbour(street& here) {
  const std::size_t of = here.all.dice.below(here.plots.size());
  if (here.plots[of].may_be_removed || !here.plots[of].is_resident) return;
  const auto added = here.services->add<neighbour>({.id = here.plots.size()})
                         .as<resident>()
                         .bind<resident>(here.plots[of].handle)
                         .with(quarter::draw(here.all.dice))
                         .handle();
  here.plots.push_back({.handle = added, .needs = {of}});
}

/// There is one tower at most.
task<void> move_tower(street& here) {
  if (here.tower != service_handle{} && here.all.dice.chance(1, 3)) {
    co_await change_one(here, change::restart, here.tower);
  } else if (here.tower != service_handle{}) {
    co_await change_one(here, change::remove, std::exchange(here.tower, {}));
  } else if (!here.services->has<tower>()) {
    here.tower = here.services->add<tower>().handle();
    co_await change_one(here, change::start, here.tower);
  }
}

/// Restarts of many at once, which wait in line for each other.
task<void> restart_many(street& here) {
  scope restarts{co_await this_task::environment()};
  for (unsigned left = here.all.dice.between(2U, 8U); left > 0; --left)
    restarts.spawn(change_one(here, change::restart,
                              here.plots[here.all.dice.below(here.plots.size())].handle));
  co_await restarts.join();
}

task<result<void>> ask_all_for(everywhere& shards, change what, std::string name) {
  switch (what) {
    case change::start: co_return co_await shards.start<mill>(std::move(name));
    case change::stop: co_return co_await shards.stop<mill>(std::move(name));
    case change::restart: co_return co_await shards.restart<mill>(std::move(name));
    case change::remove: break;
  }
  std::unreachable();
}

/// In all streets that have it. Only who is nobody's task may ask: two that each wait for the end
/// of the other, on two shards, would wait for ever.
task<void> change_all_mills(street& here) {
  town& all = here.all;
  ++all.seen.changes;
  const auto what = static_cast<change>(all.dice.between(0U, 2U));
  const std::string name = all.dice.chance(1, 2) ? "north" : "south";
  const auto how = co_await ask_all_for(here.services->get<everywhere>(), what, name);
  if (!how) ++all.seen.refusals;
  all.note(30 + static_cast<unsigned>(what),
           how ? 0 : static_cast<std::uint64_t>(how.error().code()));
}

task<void> storm_of_one(street& here) {
  for (unsigned left = here.all.dice.between(1U, 6U); left > 0 && !here.stops(); --left) {
    const std::uint64_t drawn = here.all.dice.below(8);
    if (drawn == 0)
      co_await restart_many(here);
    else if (drawn == 1)
      co_await change_all_mills(here);
    else
      co_await change_something(here);
    co_await here.pause(5ms);
  }
}

}  // namespace

task<void> change_something(street& here) {
  if (!here.is_wild()) co_return;  // it has become calm since who asks began
  random& dice = here.all.dice;
  const std::uint64_t drawn = dice.below(10);
  if (drawn == 0) add_neighbour(here);
  if (drawn == 1) co_await move_tower(here);
  if (drawn <= 1) co_return;
  const change what = draw_change(dice);
  plot& of = here.plots[dice.below(here.plots.size())];
  of.may_be_removed = of.may_be_removed || what == change::remove;
  co_await change_one(here, what, of.handle);
}

task<void> wait_for_tower(street& here) {
  town& all = here.all;
  ++all.seen.waits;
  ++here.waiting_for_tower;
  const bool is_patient = all.dice.chance(1, 2);
  result<tower*> there;
  if (is_patient)
    there = co_await here.services->wait_for<tower>();
  else
    there = co_await with_timeout(all.dice.between(0, 20) * 1ms, here.services->wait_for<tower>());
  --here.waiting_for_tower;
  all.note(20, there.has_value());
  if (there) {
    (*there)->touch();
    all.require((*there)->is_up(), "who is waited for has started");
    co_return;
  }
  const tower* const now = here.services->find<tower>();
  all.require(now == nullptr || !now->is_up() ||
                  here.shard.loop().turns() < here.tower_since + turns_to_hear,
              "who waits hears that somebody is there");
}

task<void> storm(street& here) {
  scope storms{co_await this_task::environment()};
  for (int i = 0; i < 3; ++i) storms.spawn(storm_of_one(here));
  co_await storms.join();
}

task<void> settle(street& here) {
  town& all = here.all;
  if (!here.services->has<tower>()) here.tower = here.services->add<tower>().handle();
  if (here.tower != service_handle{})
    all.require((co_await here.services->start(here.tower)).has_value() || here.stops(),
                "the tower can be had when nothing fails");
  std::vector<bool> lacks(here.plots.size());
  for (std::size_t i = 0; i < here.plots.size() && !here.stops(); ++i) {
    const plot& one = here.plots[i];
    const bool may_be_removed = one.may_be_removed;
    lacks[i] = (one.needs_tower && here.tower == service_handle{}) ||
               std::ranges::any_of(one.needs, [&](std::size_t of) { return lacks[of]; });
    const auto up = co_await here.services->start(one.handle);
    const bool is_gone = !up && up.error() == errc::not_found && may_be_removed;
    all.require(up || is_gone || lacks[i] || here.stops(),
                "who has what it needs can be had when nothing fails");
    lacks[i] = lacks[i] || is_gone;
  }
}

}  // namespace weft::simulation
