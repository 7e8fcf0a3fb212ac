// Who is told which services come and go, and what has been said of them.
#include <weft/service/container_change_fixture_test.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <weft/testing/allocation_failure.hpp>

namespace fair {

using mill::journal;

struct region {
  std::string name;
};
struct rank {
  int place = 0;
};

struct stall {
  virtual ~stall() = default;
  [[nodiscard]] virtual std::string sells() const = 0;
};
struct stall_options {
  std::string sells = "bread";
  bool fails = false;
};
struct booth : stall {
  using options = stall_options;
  booth(stall_options given, journal& into) : what{std::move(given)}, log{into} {}
  [[nodiscard]] std::string sells() const override { return what.sells; }
  weft::result<void> start() {
    if (what.fails) return weft::fail(weft::errc::refused);
    log.note(what.sells + " started");
    return {};
  }
  void stop() { log.note(what.sells + " stopped"); }
  stall_options what;
  journal& log;
};
// Writes down who comes and goes.
struct crier {
  crier(weft::container& services, journal& into) : log{into} {
    services.track<stall>([this](stall& one) { log.note("+" + one.sells()); },
                          [this](stall& one) { log.note("-" + one.sells()); });
  }
  journal& log;
};
// As a crier, but of one region, and from its start on.
struct local_crier {
  local_crier(weft::container& in, journal& into) : services{in}, log{into} {}
  void start() {
    services.track<stall>(
        [](const weft::service_info& of) {
          const auto* const where = of.property<region>();
          return where != nullptr && where->name == "north";
        },
        [this](stall& one, const weft::service_info& of) {
          log.note("+" + one.sells() + " of " + std::string{of.name()});
        },
        [this](stall& one) { log.note("-" + one.sells()); });
  }
  weft::container& services;
  journal& log;
};
struct shopper {
  explicit shopper(weft::many<stall> all) : stalls{all} {}
  [[nodiscard]] std::string finds_in(const std::string& wanted) const {
    std::string found;
    for (const stall& each : stalls.where([&](const weft::service_info& of) {
           const auto* const where = of.property<region>();
           return where != nullptr && where->name == wanted;
         }))
      found += each.sells() + ' ';
    return found;
  }
  weft::many<stall> stalls;
};

}  // namespace fair

namespace {

using fair::booth;
using fair::stall;
using mill::lines;
using weft::captured_log;
using weft::container_change;
using weft::service_handle;
using weft::task;

class container_track : public container_change {
 protected:
  service_handle add(std::string sells) {
    return services.add<booth>({.sells = sells}).as<stall>().named(sells).handle();
  }
};

TEST_F(container_track, tells_who_comes_and_goes) {
  services.add<fair::crier>();
  const auto bread = add("bread");
  run([&]() -> task<void> {
    EXPECT_EQ(log.take(), (lines{"bread started", "+bread"})) << "not before it has started";
    const auto milk = add("milk");
    EXPECT_EQ(log.take(), lines{});
    co_await expect("well", services.start(milk));
    EXPECT_EQ(log.take(), (lines{"milk started", "+milk"}));
    co_await expect("well", services.restart(bread));
    EXPECT_EQ(log.take(), (lines{"-bread", "bread stopped", "bread started", "+bread"}));
    co_await expect("well", services.remove(milk));
    EXPECT_EQ(log.take(), (lines{"-milk", "milk stopped"}));
  });
  EXPECT_EQ(log.notes, (lines{"-bread", "bread stopped"})) << "when all stop, too";
}

TEST_F(container_track, tells_at_once_who_is_there_and_nothing_once_its_service_has_ended) {
  add("bread");
  run([&]() -> task<void> {
    log.notes.clear();
    const auto crier = services.add<fair::crier>().handle();
    co_await expect("well", services.start(crier));
    EXPECT_EQ(log.take(), lines{"+bread"});
    co_await expect("well", services.stop(crier));
    EXPECT_EQ(log.take(), lines{}) << "nothing is said of those that stay";
    co_await expect("well", services.start(add("milk")));
    EXPECT_EQ(log.take(), lines{"milk started"});
  });
}

TEST_F(container_track, says_nothing_of_who_does_not_start) {
  captured_log messages;
  services.add<fair::crier>();
  run([&]() -> task<void> {
    const auto never = services.add<booth>({.fails = true}).as<stall>().handle();
    co_await expect("refused", services.start(never));
    EXPECT_EQ(log.take(), lines{});
  });
}

TEST_F(container_track, takes_those_that_the_filter_takes) {
  services.add<booth>({.sells = "bread"})
      .as<stall>()
      .named("one")
      .with(fair::region{"south"})
      .with(fair::rank{1})
      .with(fair::region{"north"});
  services.add<booth>({.sells = "milk"}).as<stall>().named("two").with(fair::region{"south"});
  services.add<booth>({.sells = "eggs"}).as<stall>();
  services.add<fair::local_crier>();
  services.add<fair::shopper>();
  run([&]() -> task<void> {
    EXPECT_EQ(log.take(),
              (lines{"bread started", "milk started", "eggs started", "+bread of one"}));
    const auto& shopper = services.get<fair::shopper>();
    EXPECT_EQ(shopper.finds_in("north"), "bread ");
    EXPECT_EQ(shopper.finds_in("south"), "milk ");
    EXPECT_EQ(shopper.finds_in("west"), "");
    EXPECT_EQ(shopper.stalls.begin().info().property<fair::rank>()->place, 1);
    EXPECT_EQ(shopper.stalls.begin().info().type(), "fair::booth");
    co_return;
  });
}

TEST_F(container_track, hears_of_nobody_twice_when_it_begins_in_the_midst) {
  const auto bread = add("bread");
  const auto milk = add("milk");
  run([&]() -> task<void> {
    log.notes.clear();
    weft::event_registration inner;
    const auto say = [this](const char* what) {
      return [this, what](stall& one) { log.note(what + one.sells()); };
    };
    const auto outer = services.track<stall>(
        [&](stall& one) {
          log.note("+" + one.sells());
          if (!inner) inner = services.track<stall>(say("inner +"), say("inner -"));
        },
        say("-"));
    EXPECT_EQ(log.take(), (lines{"+bread", "inner +bread", "inner +milk", "+milk"}));
    inner = {};
    co_await expect("well", services.restart(milk));
    EXPECT_EQ(log.take(), (lines{"-milk", "milk stopped", "milk started", "+milk", "inner +bread",
                                 "inner +milk"}));
    co_await expect("well", services.stop(bread));
    EXPECT_EQ(log.take(), (lines{"-bread", "inner -bread", "bread stopped"}));
  });
}

TEST_F(container_track, hears_of_no_part_of_what_leaves_together) {
  struct roof {};
  struct booth_below : booth {
    booth_below(fair::stall_options given, fair::journal& into, roof&)
        : booth{std::move(given), into} {}
  };
  const auto above = services.add<roof>().handle();
  services.add<booth_below>({.sells = "bread"}).as<stall>();
  services.add<booth_below>({.sells = "milk"}).as<stall>().named("milk");
  run([&]() -> task<void> {
    log.notes.clear();
    weft::event_registration inner;
    const auto outer = services.track<stall>([](stall&) {},
                                             [&](stall& one) {
                                               log.note("-" + one.sells());
                                               EXPECT_EQ(services.find<stall>(), nullptr);
                                               if (!inner)
                                                 inner = services.track<stall>(
                                                     [this](stall&) { log.note("inner +"); },
                                                     [this](stall&) { log.note("inner -"); });
                                             });
    co_await expect("well", services.stop(above));
    EXPECT_EQ(log.take(), (lines{"-milk", "-bread", "milk stopped", "bread stopped"}));
    co_await expect("well", services.start(above));
    EXPECT_EQ(log.take(), (lines{"bread started", "inner +", "milk started", "inner +"}));
  });
}

TEST_F(container_track, ends_where_it_is_told_to) {
  add("bread");
  run([&]() -> task<void> {
    log.notes.clear();
    weft::event_registration once;
    once = services.track<stall>([](stall&) {},
                                 [&](stall& one) {
                                   log.note("-" + one.sells());
                                   once.remove();
                                 });
    const auto milk = add("milk");
    co_await expect("well", services.start(milk));
    co_await expect("well", services.restart(milk));
    co_await expect("well", services.restart(milk));
    EXPECT_EQ(log.take(), (lines{"milk started", "-milk", "milk stopped", "milk started",
                                 "milk stopped", "milk started"}));
  });
}

TEST_F(container_track, goes_on_after_an_exception_and_knows_what_is_lent) {
  captured_log messages;
  struct sign : stall {
    [[nodiscard]] std::string sells() const override { return "nothing"; }
  };
  sign lent;
  services.provide<stall>(lent);
  run([&]() -> task<void> {
    const auto heard = services.track<stall>(
        [this](stall& one) {
          log.note("+" + one.sells());
          if (one.sells() == "bread") throw std::runtime_error{"no bread"};
        },
        [](stall&) {});
    co_await expect("well", services.start(add("bread")));
    co_await expect("well", services.start(add("milk")));
    EXPECT_EQ(log.take(), (lines{"+nothing", "bread started", "+bread", "milk started", "+milk"}));
  });
  EXPECT_EQ(messages.messages, lines{"somebody, which follows fair::stall, failed when fair::booth "
                                     "\"bread\" came: no bread"});
}

TEST_F(container_track, goes_on_without_the_memory_to_say_who_has_failed) {
  if (!weft::testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  captured_log messages;
  std::optional<weft::testing::allocation_failure> no_memory;
  // Whoever asks what has happened has no memory from then on.
  struct out_of_bread : std::exception {
    explicit out_of_bread(std::optional<weft::testing::allocation_failure>& begins)
        : next{begins} {}
    [[nodiscard]] const char* what() const noexcept override {
      next.emplace(1U);
      return "no bread";
    }
    std::optional<weft::testing::allocation_failure>& next;
  };
  run([&]() -> task<void> {
    const auto heard =
        services.track<stall>([&](stall&) { throw out_of_bread{no_memory}; }, [](stall&) {});
    co_await expect("well", services.start(add("bread")));
    no_memory.reset();
    EXPECT_EQ(log.take(), lines{"bread started"});
  });
  EXPECT_EQ(messages.messages,
            lines{"somebody who follows services failed, and there is no memory to say who"});
}

}  // namespace
