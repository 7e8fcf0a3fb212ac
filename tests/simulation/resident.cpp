#include "resident.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <tuple>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>

#include "town_hall.hpp"
#include "town_storm.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

/// A start() that only its deadline ends, or who asks it to stop.
constexpr duration endless = 24h;

}  // namespace

resident::resident(resident_options given, street& in, lifetime& own, std::vector<resident*> needed)
    : here_{in}, own_{own}, id_{given.id}, number_{++in.all.objects} {
  for (resident* const each : needed) needs_.emplace_back(each, each->number());
  here_.all.note(1, id_, number_);
  if (here_.is_wild() && here_.all.dice.chance(1, 30)) {
    ++here_.all.seen.failures;
    throw std::runtime_error{"it does not like the town"};
  }
  here_.all.alive.insert(number_);
  ++here_.residents;
  touch();
  own.spawn(live());
}

resident::~resident() {
  touch();
  here_.all.require(phase_ != phase::starting && phase_ != phase::up && phase_ != phase::stopping,
                    "who has started is stopped before its end");
  here_.all.note(2, id_);
  here_.all.alive.erase(number_);
  --here_.residents;
}

bool resident::needs(std::uint64_t object) const noexcept {
  return std::ranges::contains(needs_, object, &std::pair<resident*, std::uint64_t>::second);
}

void resident::touch() const {
  const auto is_alive = [this](std::uint64_t number) { return here_.all.alive.contains(number); };
  here_.all.require(is_alive(number_), "nobody works after its end");
  for (const auto& [needed, was] : needs_)
    here_.all.require(is_alive(was) && needed->number() == was, "who needs it ends before it");
}

void resident::is_seen() const {
  touch();
  here_.all.require(!here_.is_settled || here_.is_ending || phase_ < phase::stopping,
                    "nobody is seen once it is to stop");
}

task<result<void>> resident::start() {
  here_.all.require(phase_ == phase::made, "nobody is started twice");
  for (const auto& [needed, was] : needs_)
    here_.all.require(needed->is_up(), "what it needs is started first");
  touch();
  phase_ = phase::starting;
  try {
    const auto how = co_await try_to_start();
    if (how) {
      now_up();
      co_return how;
    }
    phase_ = phase::failed;
    ++here_.all.seen.failures;
    co_return how;
  } catch (...) {
    phase_ = phase::failed;
    ++here_.all.seen.failures;
    throw;
  }
}

task<result<void>> resident::try_to_start() {
  const environment& env = co_await this_task::environment();
  random& dice = here_.all.dice;
  const std::uint64_t how = here_.is_wild() ? dice.below(30) : ~0ULL;
  if (how == 0) co_return fail(errc::refused);
  if (how == 1) throw std::runtime_error{"it does not get up"};
  if (how == 2 && !env.until.is_never()) co_return co_await sleep_for(here_.shard.loop(), endless);
  co_await here_.pause(2ms);
  touch();
  if (how == 3) co_return fail(errc::unavailable);
  co_return result<void>{};
}

void resident::now_up() {
  phase_ = phase::up;
  here_.up.push_back(this);
  ++here_.all.seen.starts;
  here_.all.note(3, id_);
}

void resident::no_longer_up() {
  here_.all.require(phase_ == phase::up, "who is stopped was started, and is not stopped twice");
  phase_ = phase::stopping;
  here_.all.require(!here_.in_reverse || here_.up.back() == this,
                    "in the end the last to start stops first");
  std::erase(here_.up, this);
  for (const resident* const each : here_.up)
    here_.all.require(!each->needs(number_), "who needs it stops before it");
  here_.all.note(4, id_);
}

task<result<void>> resident::stop() {
  no_longer_up();
  touch();
  co_await here_.pause(2ms);
  touch();
  phase_ = phase::stopped;
  if (here_.is_wild() && here_.all.dice.chance(1, 30)) co_return fail(errc::unavailable);
  co_return result<void>{};
}

task<void> resident::live() {
  for (;;) {
    const auto length = here_.all.dice.between(2, 8) * 1ms;
    if (!co_await sleep_for(here_.shard.loop(), length)) break;
    touch();
    if (here_.is_wild()) co_await do_something();
    touch();
  }
  touch();
}

task<void> resident::do_something() {
  random& dice = here_.all.dice;
  if (dice.chance(1, 30)) co_await change_something(here_);
  if (dice.chance(1, 20)) co_await wait_for_tower(here_);
}

hermit::hermit(resident_options given, street& in, lifetime& own) : resident{given, in, own, {}} {}

neighbour::neighbour(resident_options given, street& in, lifetime& own, resident& one)
    : resident{given, in, own, {&one}} {}

partner::partner(resident_options given, street& in, lifetime& own, resident& one, resident& other)
    : resident{given, in, own, {&one, &other}} {}

onlooker::onlooker(resident_options given, street& in, lifetime& own, resident& one,
                   maybe<resident> other, many<resident> rest)
    : resident{given, in, own, {&one}}, seen{other}, all{rest} {}

task<void> onlooker::do_something() {
  if (seen) seen->is_seen();
  for (const resident& each : all) each.is_seen();
  co_await resident::do_something();
}

watchman::watchman(resident_options given, street& in, lifetime& own, resident& one,
                   container& services)
    : resident{given, in, own, {&one}} {
  services.track<resident>(
      [](const service_info& of) {
        const auto* const where = of.property<quarter>();
        return where != nullptr && where->number == 0;
      },
      [this](const resident& who) {
        touch();
        here().all.require(who.is_up() && present_.insert(&who).second,
                           "who comes has started, and comes once");
        here().all.note(60, who.number());
      },
      [this](const resident& who) {
        touch();
        here().all.require(who.is_up() && present_.erase(&who) == 1,
                           "who goes has come, and has not stopped yet");
        here().all.note(61, who.number());
      });
}

task<void> watchman::do_something() {
  for (const resident* const each : present_) each->is_seen();
  co_await resident::do_something();
}

tool::tool(resident_options given, street& in, lifetime& own, consumer who)
    : resident{given, in, own, {}} {
  in.all.require(!who.type.empty(), "a tool knows whose it is");
}

craftsman::craftsman(resident_options given, street& in, lifetime& own, resident& one, tool& with)
    : resident{given, in, own, {&one, &with}} {}

cellar::cellar(resident_options given, street& in, lifetime& own) : resident{given, in, own, {}} {}

cook::cook(resident_options given, street& in, lifetime& own, cellar& stores)
    : resident{given, in, own, {&stores}} {}

windmill::windmill(resident_options given, street& in, lifetime& own)
    : mill{given, in, own, std::vector<resident*>{}} {}

miller::miller(resident_options given, street& in, lifetime& own, named<mill, "north"> one,
               named<mill, "south"> other)
    : resident{given, in, own, {&one.get(), &other.get()}} {}

tower::tower(resident_options given, street& in, lifetime& own) : resident{given, in, own, {}} {}

task<result<void>> tower::start() {
  const auto up = co_await resident::start();
  if (up) here().tower_since = here().shard.loop().turns();
  co_return up;
}

ringer::ringer(resident_options given, street& in, lifetime& own, tower& bells)
    : resident{given, in, own, {&bells}} {}

crier::crier(resident_options given, street& in, lifetime& own, event_bus& bus)
    : resident{given, in, own, {}}, voice{bus} {}

task<void> crier::do_something() {
  co_await publish_something(here(), voice);
  co_await resident::do_something();
}

gossip::gossip(resident_options given, street& in, lifetime& own, resident& one, event_bus& bus)
    : resident{given, in, own, {&one}}, bus_{bus} {
  bus.on<news>([this](const news& told) { hear(told); });
  bus.on<news>([this](const news& told) { return think_of(told); });
  bus.before<news>([this](const news& told) {
    touch();
    if (!here().is_wild() || !here().all.dice.chance(1, 40)) return true;
    veto(here(), told);
    return false;
  });
  bus.after<news>([this](const news&, unsigned) { touch(); });
}

void gossip::hear(const news& told) {
  touch();
  functions_.hears(here(), told);
  if (!here().is_wild()) return;
  if (here().all.dice.chance(1, 12)) publish_at_once(here(), bus_);
  if (here().all.dice.chance(1, 40)) throw std::runtime_error{"it cannot bear the news"};
}

task<result<void>> gossip::think_of(const news& told) {
  touch();
  coroutines_.hears(here(), told);
  random& dice = here().all.dice;
  // With a deadline: it may be for its end that the bus waits.
  if (here().is_wild() && dice.chance(1, 12))
    co_await with_timeout(20ms, publish_something(here(), bus_));
  if (dice.chance(1, 3)) co_await here().pause(dice.chance(1, 8) ? 60ms : 3ms);
  touch();
  here().all.require(here().all.ledger.of(told.about.entry()).told != 0,
                     "news live as long as who thinks of them");
  co_return result<void>{};
}

/// Registers and takes back what belongs to nobody.
task<void> gossip::do_something() {
  if (late_) {
    touch();
    std::ignore = co_await late_.end();
  } else {
    late_ = bus_.on<news>([this](const news&) { touch(); }, &own());
  }
  co_await resident::do_something();
}

citizen::citizen(resident_options given, street& in, lifetime& own, resident& one,
                 remote<hall>& far)
    : resident{given, in, own, {&one}}, calls{far} {}

task<void> citizen::do_something() {
  co_await call_hall(here(), calls);
  co_await resident::do_something();
}

}  // namespace weft::simulation
