// What the tests of changes at run time share: services that write down what happens to them, a
// loop whose clock jumps to the next timer, and a container that lives on it.
//
//   run([this]() -> task<void> { co_await expect("well", services.stop(wheel)); });
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/unique_function.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/captured_log_test.hpp>
#include <weft/service/container.hpp>
#include <weft/service/event_bus.hpp>

namespace mill {

using lines = std::vector<std::string>;

// What happened, in order, and what is to go wrong.
struct journal {
  lines notes;
  bool wheel_fails = false;
  bool wheel_throws = false;
  bool stone_fails = false;
  void note(std::string line) { notes.push_back(std::move(line)); }
  lines take() { return std::exchange(notes, {}); }
};

struct wheel {
  explicit wheel(journal& into) : log{into} {
    if (log.wheel_throws) throw std::runtime_error{"no water"};
    log.note("wheel made");
  }
  wheel(const wheel&) = delete;
  wheel& operator=(const wheel&) = delete;
  ~wheel() { log.note("wheel gone"); }
  weft::result<void> start() {
    if (log.wheel_fails) return weft::fail(weft::errc::exhausted);
    log.note("wheel started");
    return {};
  }
  void stop() { log.note("wheel stopped"); }
  journal& log;
};
struct stone {
  stone(wheel& below, journal& into, weft::event_loop& on) : drive{below}, log{into}, loop{on} {}
  stone(const stone&) = delete;
  stone& operator=(const stone&) = delete;
  ~stone() { log.note("stone gone"); }
  weft::task<weft::result<void>> start() {
    static_cast<void>(co_await weft::sleep_for(loop, std::chrono::milliseconds{1}));
    if (log.stone_fails) co_return weft::fail(weft::errc::refused);
    log.note("stone started");
    co_return weft::result<void>{};
  }
  weft::task<weft::result<void>> stop() {
    const auto slept = co_await weft::sleep_for(loop, std::chrono::milliseconds{1});
    log.note(slept ? "stone stopped" : "stone hastened");
    co_return slept;
  }
  wheel& drive;
  journal& log;
  weft::event_loop& loop;
};
struct miller {
  miller(stone&, journal& into) : log{into} {}
  void start() { log.note("miller started"); }
  void stop() { log.note("miller stopped"); }
  journal& log;
};
struct visitor {
  visitor(weft::maybe<wheel> one, weft::many<wheel> all, journal& into)
      : sees{one}, sees_all{all}, log{into} {}
  void stop() { log.note("visitor stopped"); }
  weft::maybe<wheel> sees;
  weft::many<wheel> sees_all;
  journal& log;
};
// Lets time pass in stop(), until it is asked to hurry.
struct slow {
  slow(journal& into, weft::event_loop& on, weft::lifetime& mine)
      : log{into}, loop{on}, own{mine} {}
  weft::task<weft::result<void>> stop() {
    log.note("slow stops");
    const auto slept = co_await weft::sleep_for(loop, std::chrono::hours{1});
    log.note(slept ? "slow stopped" : "slow hastened");
    co_return weft::result<void>{};
  }
  journal& log;
  weft::event_loop& loop;
  weft::lifetime& own;
};

}  // namespace mill

namespace weft {

using mill::lines;

template <class T>
std::string said(const result<T>& how) {
  return how ? "well" : weft::to_string(how.error().code());
}
inline std::string said(const std::optional<result<void>>& how) {
  return how ? said(*how) : "nothing yet";
}

inline lines both(lines first, const lines& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

using life = unique_function<task<void>()>;

inline task<void> live(container& services, life& meanwhile) {
  const auto up = co_await services.start();
  EXPECT_TRUE(up);
  co_await meanwhile();
  static_cast<void>(co_await services.stop());
}

inline task<void> keep(task<result<void>> work, std::optional<result<void>>& into) {
  into = co_await std::move(work);
}

class container_change : public ::testing::Test {
 protected:
  container_change() {
    services.provide(*loop);
    services.provide(log);
    services.provide(events);
  }

  /// Starts all, does `meanwhile`, and stops all.
  void run(life meanwhile) {
    loop->spawn(live(services, meanwhile));
    loop->run();
  }
  task<void> pause(duration length) { static_cast<void>(co_await sleep_for(*loop, length)); }
  template <class T>
  static task<void> expect(std::string_view how, task<result<T>> work,
                           std::source_location here = std::source_location::current()) {
    const auto went = co_await std::move(work);
    EXPECT_EQ(said(went), how) << "line " << here.line();
  }

  std::unique_ptr<event_loop> loop = *event_loop::create({.backend = backend_kind::simulated});
  mill::journal log;
  event_bus events{{}, *loop};
  container services;
};

}  // namespace weft
