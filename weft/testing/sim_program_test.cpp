#include <weft/testing/sim_program.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/everywhere.hpp>
#include <weft/service/logger.hpp>
#include <weft/service/remote.hpp>

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

struct diary {
  std::vector<std::string> lines;
};

struct clerk_options {
  bool fails = false;
};

/// Writes down what happens to it, and where.
class clerk {
 public:
  using options = clerk_options;
  clerk(clerk_options given, diary& into, event_loop& on, logger&)
      : given_{given}, into_{into}, loop_{on} {}
  task<result<void>> start() {
    std::ignore = co_await sleep_for(loop_, 1ms);
    if (given_.fails) co_return fail(errc::refused);
    note("up");
    co_return result<void>{};
  }
  void stop() { note("down"); }

 private:
  void note(std::string_view what) {
    into_.lines.push_back(weft::format("{} {}", loop_.shard(), what));
  }

  clerk_options given_;
  diary& into_;
  event_loop& loop_;
};

struct counter {
  int next() { return ++count; }
  int count = 0;
};
struct warden {
  explicit warden(everywhere& all) : shards{all} {}
  everywhere& shards;
};
struct caller {
  explicit caller(remote<counter>& far) : calls{far} {}
  remote<counter>& calls;
};

class sim_program_test : public ::testing::Test {
 protected:
  sim_program_test() {
    log::set_level(log::level::off);
    program_.prepare([this](container& services, sim_shard&) { services.provide(diary_); });
  }
  ~sim_program_test() override { log::set_level(before_); }

  /// The program, on so many shards of a calm world, whose shards do `meanwhile`.
  void run(unsigned shards, sim_program::body meanwhile) {
    sim_world world{1, sim_plan{}};
    world.add_host("host", shards).runs([&](sim_shard& shard) -> task<void> {
      is_clean_ = co_await program_.run(
          shard, [&](container& services, sim_shard& here) { return meanwhile(services, here); });
    });
    world.run();
  }
  static task<void> nothing(container&, sim_shard&) { co_return; }

  log::level before_ = log::current_level();
  diary diary_;
  sim_program program_;
  bool is_clean_ = false;
};

TEST_F(sim_program_test, starts_the_services_of_the_first_shard_before_the_others) {
  program_.add<clerk>();
  run(2, [](container&, sim_shard& shard) -> task<void> {
    std::ignore = co_await sleep_for(shard.loop(), shard.index() == 0 ? 1s : 2s);
  });
  EXPECT_TRUE(is_clean_);
  EXPECT_EQ(diary_.lines, (std::vector<std::string>{"0 up", "1 up", "0 down", "1 down"}));
}

TEST_F(sim_program_test, has_what_is_single_once) {
  program_.add<counter>().single();
  program_.add<caller>();
  int sum = 0;
  run(3, [&](container& services, sim_shard& shard) -> task<void> {
    sum += *co_await services.get<caller>().calls.call(&counter::next);
    std::ignore = co_await sleep_for(shard.loop(), 1s);
  });
  EXPECT_EQ(sum, 1 + 2 + 3);
}

TEST_F(sim_program_test, changes_the_services_of_all_shards) {
  program_.add<clerk>();
  program_.add<warden>();
  run(2, [&](container& services, sim_shard& shard) -> task<void> {
    std::ignore = co_await sleep_for(shard.loop(), shard.index() == 0 ? 1s : 2s);
    if (shard.index() != 0) co_return;
    diary_.lines.clear();
    EXPECT_TRUE((co_await services.get<warden>().shards.restart<clerk>()).has_value());
    EXPECT_EQ(diary_.lines, (std::vector<std::string>{"0 down", "0 up", "1 down", "1 up"}));
  });
  EXPECT_TRUE(is_clean_);
}

TEST_F(sim_program_test, ends_everywhere_where_it_does_not_start) {
  program_.add<clerk>({.fails = true});
  run(2, nothing);
  EXPECT_FALSE(is_clean_);
  EXPECT_TRUE(diary_.lines.empty());
}

TEST_F(sim_program_test, ends_everywhere_when_another_shard_does_not_start) {
  program_.add<clerk>();
  program_.prepare([](container& services, sim_shard& shard) {
    if (shard.index() == 1) services.add<clerk>({.fails = true}).named("late");
  });
  run(2, [](container&, sim_shard& shard) -> task<void> {
    if (shard.index() == 0) co_await until_stopped(shard.loop());
  });
  EXPECT_EQ(diary_.lines, (std::vector<std::string>{"0 up", "1 up", "1 down", "0 down"}));
}

TEST_F(sim_program_test, stops_its_services_before_an_exception_leaves) {
  program_.add<clerk>();
  EXPECT_THROW(run(1,
                   [](container&, sim_shard&) -> task<void> {
                     throw std::runtime_error{"too much"};
                     co_return;
                   }),
               sim_failure);
  EXPECT_EQ(diary_.lines, (std::vector<std::string>{"0 up", "0 down"}));
}

TEST_F(sim_program_test, serves_until_the_world_ends) {
  program_.add<clerk>();
  sim_world world{1, sim_plan{}};
  world.add_host("server").serves(
      [&](sim_shard& shard) -> task<void> { is_clean_ = co_await program_.run(shard); });
  world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
    std::ignore = co_await sleep_for(shard.loop(), 1s);
    EXPECT_EQ(diary_.lines, std::vector<std::string>{"0 up"});
  });
  world.run();
  EXPECT_TRUE(is_clean_);
  EXPECT_EQ(diary_.lines, (std::vector<std::string>{"0 up", "0 down"}));
}

TEST_F(sim_program_test, begins_anew_after_a_crash) {
  program_.add<clerk>();
  sim_plan plan{.strike_gap = 20ms, .faults_last = 1s};
  plan.rates[static_cast<std::size_t>(sim_fault::crash)] = 1;
  sim_world world{1, plan};
  unsigned lives = 0;
  auto& host = world.add_host("host", 2);
  host.may_crash();
  host.runs([&](sim_shard& shard) -> task<void> {
    lives += shard.index() == 0 ? 1 : 0;
    std::ignore = co_await program_.run(shard, [](container&, sim_shard& here) -> task<void> {
      std::ignore = co_await sleep_for(here.loop(), 2s);
    });
  });
  world.run();
  EXPECT_GT(lives, 1U);
  EXPECT_EQ(std::ranges::count(diary_.lines, "0 up"), lives);
  EXPECT_EQ(std::ranges::count(diary_.lines, "0 down"), lives);
}

}  // namespace
}  // namespace weft::testing
