#include "town.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <tuple>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/sim_program.hpp>

#include "resident.hpp"
#include "town_hall.hpp"
#include "town_storm.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using testing::sim_shard;
using testing::sim_world;

/// Lays out the services of one street.
class survey {
 public:
  explicit survey(street& of) noexcept : here_{of}, services_{*of.services}, dice_{of.all.dice} {}

  void lay_out() {
    add_first();
    add_bus();
    for (unsigned left = dice_.between(2U, 8U); left > 0; --left) add_resident();
    if (dice_.chance(1, 2)) add_mills();
    if (dice_.chance(1, 2)) add_cellar();
    if (dice_.chance(1, 2)) add_ringer();
    add_hall();
    for (unsigned left = dice_.between(0U, 3U); left > 0; --left) add_resident();
  }

 private:
  [[nodiscard]] resident_options next() const { return {.id = here_.plots.size()}; }
  /// Of a resident.
  [[nodiscard]] std::size_t any() const {
    for (;;) {
      const std::size_t drawn = dice_.below(here_.plots.size());
      if (here_.plots[drawn].is_resident) return drawn;
    }
  }
  [[nodiscard]] service_handle at(std::size_t index) const { return here_.plots[index].handle; }
  std::size_t plan(plot added) {
    here_.plots.push_back(std::move(added));
    return here_.plots.size() - 1;
  }

  void add_first() {
    services_.add<tool>(next()).per_consumer();
    plan({.handle = services_.add<hermit>(next()).as<resident>().handle()});
  }
  void add_bus() {
    const std::size_t capacity = dice_.between<std::size_t>(1, 12);
    const event_options bounds{.capacity = capacity,
                               .bound = capacity + dice_.below(12),
                               .events_per_turn = dice_.between(1U, 8U),
                               .coroutines_max = dice_.between(1U, 8U)};
    bus_ = plan({.handle = services_.add<town_bus>({.bounds = bounds}).as<event_bus>().handle(),
                 .is_resident = false});
  }
  void add_resident() {
    const std::size_t one = any();
    switch (dice_.below(9)) {
      case 0: add_hermit(); break;
      case 1: add_partner(one); break;
      case 2: add_onlooker(one); break;
      case 3: add_bound<craftsman>({one}); break;
      case 4:
        plan({.handle = services_.add<crier>(next()).as<resident>().handle(), .needs = {bus_}});
        break;
      case 5:
      case 6: add_bound<gossip>({one, bus_}); break;
      case 7: add_bound<watchman>({one}); break;
      default: add_bound<neighbour>({one}); break;
    }
  }
  void add_hermit() {
    const auto added =
        services_.add<hermit>(next()).as<resident>().with(quarter::draw(dice_)).handle();
    plan({.handle = added});
  }
  /// Whose first need is a resident.
  template <class T>
  void add_bound(std::vector<std::size_t> needs) {
    auto added = services_.add<T>(next());
    added.template as<resident>().template bind<resident>(at(needs.front()));
    added.with(quarter::draw(dice_));
    plan({.handle = added.handle(), .needs = std::move(needs)});
  }
  void add_partner(std::size_t one) {
    const std::size_t other = any();
    const auto added =
        services_.add<partner>(next()).as<resident>().bind<resident>(at(one)).bind<resident>(
            at(other));
    plan({.handle = added.handle(), .needs = {one, other}});
  }
  void add_onlooker(std::size_t one) {
    const auto added =
        services_.add<onlooker>(next()).as<resident>().bind<resident>(at(one)).bind<resident>(
            at(any()));
    plan({.handle = added.handle(), .needs = {one}});
  }
  void add_mills() {
    const std::size_t north =
        plan({.handle = services_.add<windmill>(next()).as<mill>().named("north").handle(),
              .is_resident = false});
    const std::size_t south =
        plan({.handle = services_.add<windmill>(next()).as<mill>().named("south").handle(),
              .is_resident = false});
    plan(
        {.handle = services_.add<miller>(next()).as<resident>().handle(), .needs = {north, south}});
  }
  void add_cellar() {
    const std::size_t cellar_plot =
        plan({.handle = services_.add<cellar>(next()).lazy().handle(), .is_resident = false});
    plan({.handle = services_.add<cook>(next()).as<resident>().handle(), .needs = {cellar_plot}});
  }
  void add_ringer() {
    here_.tower = services_.add<tower>(next()).handle();
    plan({.handle = services_.add<ringer>(next()).as<resident>().handle(), .needs_tower = true});
  }
  void add_hall() {
    std::vector<std::size_t> door;
    if (here_.shard.index() == 0) {
      const std::size_t of = any();
      const std::size_t house =
          plan({.handle = services_.add<hall>(next()).bind<resident>(at(of)).handle(),
                .needs = {of},
                .is_resident = false});
      door.push_back(plan({.handle = services_.add<hall_door>().as<remote<hall>>().handle(),
                           .needs = {house},
                           .is_resident = false}));
    } else {
      services_.provide(detail::remote_to_single<hall>);
    }
    const std::size_t one = any();
    door.insert(door.begin(), one);
    add_bound<citizen>(door);
  }

  street& here_;
  container& services_;
  random& dice_;
  std::size_t bus_ = 0;
};

/// A shard that begins once more begins another life.
street& begin_street(town& all, container& services, sim_shard& shard) {
  if (all.now[shard.index()] != nullptr) all.now.assign(all.now.size(), nullptr);
  if (std::ranges::count(all.now, nullptr) == std::ssize(all.now))
    all.storms = all.unsettled = static_cast<unsigned>(all.now.size());
  street& here = all.streets.emplace_back(all, shard);
  all.now[shard.index()] = &here;
  here.services = &services;
  return here;
}

task<void> wait_until_none(street& here, const unsigned& left) {
  while (left != 0 && !here.stops()) std::ignore = co_await sleep_for(here.shard.loop(), 1ms);
}

/// Everything works that can.
task<void> expect_calm(street& here) {
  town& all = here.all;
  std::ignore = co_await sleep_for(here.shard.loop(), 100ms);
  if (here.stops()) co_return;
  all.require(here.waiting_for_tower == 0 || here.services->find<tower>() == nullptr,
              "who waits for a service hears that it is there");
  if (auto* const bus = here.services->find<event_bus>()) {
    const auto told = co_await with_timeout(1min, bus->publish_and_wait(rumour{}));
    all.require(told.has_value() || here.stops(), "news are told when nothing fails");
  }
  co_await call_hall(here, remote<hall>{0});
}

task<void> live(container& services, sim_shard&) {
  street& here = services.get<street>();
  town& all = here.all;
  here.is_settled = true;
  co_await storm(here);
  --all.storms;
  co_await wait_until_none(here, all.storms);
  if (!here.stops()) co_await settle(here);
  --all.unsettled;
  co_await wait_until_none(here, all.unsettled);
  if (!here.stops()) co_await expect_calm(here);
  if (!here.stops()) {
    std::ignore = co_await services.stop(service_handle{});  // the last in the line
    here.in_reverse = !here.stops();
  }
  here.is_ending = true;
}

}  // namespace

town_outcome& town_outcome::operator+=(const town_outcome& other) noexcept {
  for (const auto count : {&town_outcome::turns, &town_outcome::starts, &town_outcome::failures,
                           &town_outcome::changes, &town_outcome::refusals, &town_outcome::news,
                           &town_outcome::lost, &town_outcome::calls, &town_outcome::waits})
    this->*count += other.*count;
  std::ranges::transform(faults, other.faults, faults.begin(), std::plus{});
  return *this;
}

bool street::stops() const noexcept {
  return shard.crashed() || shard.loop().root().stop.stop_requested();
}

bool street::is_wild() const noexcept {
  return all.storms != 0 && (is_settled || all.may_fail_to_open);
}

task<void> street::pause(duration most) {
  const duration length{all.dice.between<duration::rep>(0, most.count())};
  if (all.dice.chance(1, 2)) std::ignore = co_await sleep_for(shard.loop(), length);
}

town_outcome run_town(std::uint64_t seed) {
  sim_world world{seed};
  random& dice = world.dice();
  const unsigned shards = dice.between(1U, 3U);
  town all{world, shards};
  all.may_fail_to_open = dice.chance(1, 4);
  const bool in_haste = dice.chance(1, 2);
  testing::sim_program program{
      {.start_timeout = all.may_fail_to_open ? duration{200ms} : duration::max(),
       .stop_timeout = in_haste ? dice.between(1, 60) * 1ms : 10s}};
  program.prepare([&all](container& services, sim_shard& shard) {
    street& here = begin_street(all, services, shard);
    services.provide(here);
    survey{here}.lay_out();
  });
  auto& host = world.add_host("town", shards);
  // All that it refers to, and the world that keeps it, are here until run() has returned.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  host.runs([&](sim_shard& shard) -> task<void> {
    const bool is_clean = co_await program.run(shard, &live);
    const bool may_be_unclean = shard.crashed() || all.may_fail_to_open || in_haste;
    world.expect(is_clean || may_be_unclean, "a town opens and closes");
    world.expect(all.now[shard.index()]->residents == 0, "nobody is left");
  });
  if (dice.chance(1, 2)) host.may_crash();
  world.run();
  all.seen.fingerprint = world.fingerprint() ^ all.trace.value();
  all.seen.turns = world.turns();
  all.seen.faults = world.network().counts();
  return all.seen;
}

}  // namespace weft::simulation
