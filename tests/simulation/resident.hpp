// The services of a town: each knows which objects it was given, uses them as long as it lives, and
// fails where the dice say so.
//
// Contract: a resident checks of itself that it is started once, after what it needs, stopped once
// if it was started, before what it needs, used by nobody then, and destroyed last. While it lives
// its task uses what it was given, and asks for changes of others, publishes, waits and calls.
//
//   plots.push_back(services.add<neighbour>({.id = 3}).as<resident>().bind<resident>(other).handle());
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/service/container.hpp>
#include <weft/service/event_bus.hpp>
#include <weft/service/remote.hpp>

#include "town.hpp"

namespace weft::simulation {

class hall;

struct resident_options {
  std::uint64_t id = 0;
};

class resident {
 public:
  using options = resident_options;
  resident(resident_options given, street& in, lifetime& own, std::vector<resident*> needed);
  resident(const resident&) = delete;
  resident& operator=(const resident&) = delete;
  virtual ~resident();

  [[nodiscard]] task<result<void>> start();
  [[nodiscard]] task<result<void>> stop();

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Whether it has started, and does not stop yet.
  [[nodiscard]] bool is_up() const noexcept { return phase_ == phase::up; }
  /// For who sees it by a maybe or a many: it is there, and not about to go.
  void is_seen() const;
  /// It and what it was given are there.
  void touch() const;

 protected:
  [[nodiscard]] street& here() const noexcept { return here_; }
  [[nodiscard]] lifetime& own() const noexcept { return own_; }
  /// Once in a while, while it lives.
  virtual task<void> do_something();

 private:
  enum class phase : std::uint8_t { made, starting, failed, up, stopping, stopped };
  [[nodiscard]] bool needs(std::uint64_t object) const noexcept;
  [[nodiscard]] task<result<void>> try_to_start();
  void now_up();
  void no_longer_up();
  task<void> live();

  street& here_;
  lifetime& own_;
  std::uint64_t id_;
  std::uint64_t number_;
  phase phase_ = phase::made;
  std::vector<std::pair<resident*, std::uint64_t>> needs_;  // and its number
};

/// Needs nobody.
struct hermit : resident {
  hermit(resident_options given, street& in, lifetime& own);
};
struct neighbour : resident {
  neighbour(resident_options given, street& in, lifetime& own, resident& one);
};
struct partner : resident {
  partner(resident_options given, street& in, lifetime& own, resident& one, resident& other);
};
/// Sees whom it does not need.
struct onlooker : resident {
  onlooker(resident_options given, street& in, lifetime& own, resident& one, maybe<resident> other,
           many<resident> rest);
  task<void> do_something() override;
  maybe<resident> seen;
  many<resident> all;
};
/// A property: watchmen heed one of them.
struct quarter {
  unsigned number = 0;
  [[nodiscard]] static quarter draw(random& dice) { return {dice.between(0U, 1U)}; }
};
/// Is told who comes to its quarter, and who goes.
class watchman : public resident {
 public:
  watchman(resident_options given, street& in, lifetime& own, resident& one, container& services);

 private:
  task<void> do_something() override;

  std::set<const resident*> present_;
};
/// One for each who asks.
struct tool : resident {
  tool(resident_options given, street& in, lifetime& own, consumer who);
};
struct craftsman : resident {
  craftsman(resident_options given, street& in, lifetime& own, resident& one, tool& with);
};
/// Lazy.
struct cellar : resident {
  cellar(resident_options given, street& in, lifetime& own);
};
struct cook : resident {
  cook(resident_options given, street& in, lifetime& own, cellar& stores);
};
struct mill : resident {
  using resident::resident;
};
struct windmill : mill {
  windmill(resident_options given, street& in, lifetime& own);
};
struct miller : resident {
  miller(resident_options given, street& in, lifetime& own, named<mill, "north"> one,
         named<mill, "south"> other);
};
/// Comes and goes.
struct tower : resident {
  tower(resident_options given, street& in, lifetime& own);
  [[nodiscard]] task<result<void>> start();
};
/// Waits until there is one.
struct ringer : resident {
  ringer(resident_options given, street& in, lifetime& own, tower& bells);
};
/// Tells news.
struct crier : resident {
  crier(resident_options given, street& in, lifetime& own, event_bus& bus);
  task<void> do_something() override;
  event_bus& voice;
};
/// Hears of them, at once and in its own time, and is asked before and told after.
class gossip : public resident {
 public:
  gossip(resident_options given, street& in, lifetime& own, resident& one, event_bus& bus);

 private:
  void hear(const news& told);
  [[nodiscard]] task<result<void>> think_of(const news& told);
  task<void> do_something() override;

  event_bus& bus_;
  ear functions_;
  ear coroutines_;
  event_registration late_;
};
/// Calls the hall.
struct citizen : resident {
  citizen(resident_options given, street& in, lifetime& own, resident& one, remote<hall>& far);
  task<void> do_something() override;
  remote<hall>& calls;
};

}  // namespace weft::simulation
