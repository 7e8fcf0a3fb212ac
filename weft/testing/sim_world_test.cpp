#include <weft/testing/sim_world.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/base/log.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/sharded.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/net/udp_socket.hpp>

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

const sim_plan calm{};

sim_plan only(sim_fault kind, duration lasting = 1s) {
  sim_plan plan{
      .latency_min = 100us, .latency_max = 1ms, .strike_gap = 20ms, .faults_last = lasting};
  plan.rates[static_cast<std::size_t>(kind)] = kind < first_world_fault ? 32'768 : 1;
  return plan;
}

std::uint64_t times(const sim_world& world, sim_fault kind) {
  return world.network().counts()[static_cast<std::size_t>(kind)];
}

/// What run() throws, or nothing.
std::string failure_of(sim_world& world) {
  try {
    world.run();
    return {};
  } catch (const sim_failure& why) {
    return why.what();
  }
}

task<void> echo_one(sim_shard& shard) {
  auto listener = net::tcp_listener::bind(shard.loop(), net::endpoint::parse(":7").value());
  while (auto stream = co_await listener->accept())
    while (auto bytes = co_await stream->read()) {
      const auto written = co_await stream->write(std::move(*bytes));
      if (!written) break;
    }
}

/// What has come back when the stream ended.
task<std::string> ask(sim_shard& shard, sim_host_box& server, std::string_view text) {
  std::string answer;
  auto stream = co_await net::tcp_stream::connect(shard.loop(), server.endpoint(7));
  if (!stream) co_return answer;
  std::ignore = co_await stream->write(text);
  while (answer.size() < text.size()) {
    const auto bytes = co_await stream->read();
    if (!bytes) break;
    answer += bytes->text();
  }
  co_return answer;
}

task<result<buffer_ref>> read(net::tcp_stream& stream) { co_return co_await stream.read(); }

/// Gives up after a moment, in which bytes may have come all the same.
task<result<buffer_ref>> read_hastily(sim_shard& shard, net::tcp_stream& stream) {
  environment own = co_await this_task::environment();
  own.until = deadline::at(shard.loop().now() + 1ms);
  co_return co_await read(stream).in(own);
}

TEST(sim_world, lets_hosts_speak_to_each_other) {
  sim_world world{1, calm};
  auto& server = world.add_host("server");
  server.serves(echo_one);
  std::string answer;
  world.add_host("client").runs(
      [&](sim_shard& shard) -> task<void> { answer = co_await ask(shard, server, "hello"); });
  world.run();
  EXPECT_EQ(answer, "hello");
}

TEST(sim_world, is_decided_by_its_seed) {
  const auto fingerprint = [](std::uint64_t seed) {
    sim_world world{seed};
    auto& server = world.add_host("server");
    server.serves(echo_one);
    world.add_host("client", 2).runs([&](sim_shard& shard) -> task<void> {
      for (int i = 0; i < 20; ++i) std::ignore = co_await ask(shard, server, "hello");
    });
    world.run();
    return world.fingerprint();
  };
  EXPECT_EQ(fingerprint(1), fingerprint(1));
  EXPECT_NE(fingerprint(1), fingerprint(2));
}

TEST(sim_world, names_the_seed_of_what_fails) {
  sim_world world{4711, calm};
  world.add_host("host").runs([&](sim_shard&) -> task<void> {
    world.expect(false, "water flows uphill");
    co_return;
  });
  const std::string text = failure_of(world);
  EXPECT_NE(text.find("water flows uphill"), text.npos) << text;
  EXPECT_NE(text.find("WEFT_SEED=4711 "), text.npos) << text;
}

TEST(sim_world, fails_where_a_main_throws) {
  sim_world world{1, calm};
  world.add_host("host").runs([](sim_shard&) -> task<void> {
    throw std::runtime_error{"no more"};
    co_return;
  });
  EXPECT_NE(failure_of(world).find("a main on host threw: no more"), std::string::npos);
}

TEST(sim_world, fails_where_nothing_can_go_on) {
  sim_world world{1, calm};
  world.add_host("host").runs(
      [](sim_shard& shard) -> task<void> { co_await until_stopped{shard.loop()}; });
  EXPECT_NE(failure_of(world).find("no progress"), std::string::npos);
}

TEST(sim_world, fails_where_nothing_ends) {
  sim_world world{1, calm};
  world.add_host("host").runs([](sim_shard& shard) -> task<void> {
    for (;;) {
      const auto slept = co_await sleep_for(shard.loop(), 1s);
      if (!slept) co_return;
    }
  });
  EXPECT_NE(failure_of(world).find("faults have stopped long ago"), std::string::npos);
}

TEST(sim_world, fails_where_something_is_left) {
  std::optional<buffer_ref> kept;
  sim_world world{1, calm};
  world.add_host("host").runs([&](sim_shard& shard) -> task<void> {
    kept = shard.loop().buffers().acquire();
    co_return;
  });
  EXPECT_NE(failure_of(world).find("host leaves behind: 1 buffers"), std::string::npos);
}

TEST(sim_world, looks_at_what_must_always_hold) {
  sim_world world{1, calm};
  int number = 0;
  world.always("the number is small", [&] { return number < 3; });
  world.add_host("host").runs([&](sim_shard& shard) -> task<void> {
    for (; number < 5; ++number) std::ignore = co_await sleep_for(shard.loop(), 1ms);
  });
  EXPECT_NE(failure_of(world).find("the number is small"), std::string::npos);
}

TEST(sim_world, delivers_letters_between_shards) {
  sim_world world{1, calm};
  int letters = 0;
  auto& host = world.add_host("host", 2);
  host.runs([&](sim_shard& shard) -> task<void> {
    for (int i = 0; i < 10; ++i) {
      host.shard(1 - shard.index()).loop().post([&] { ++letters; });
      std::ignore = co_await sleep_for(shard.loop(), 1ms);
    }
  });
  world.run();
  EXPECT_EQ(letters, 20);
}

TEST(sim_world, lets_the_shards_of_a_host_call_each_other) {
  sim_world world{1, only(sim_fault::overlap)};
  unsigned calls = 0;
  world.add_host("host", 3).runs([&](sim_shard& shard) -> task<void> {
    for (unsigned i = 0; i < 50; ++i) {
      const auto all = co_await on_all([&calls] {
        ++calls;
        return event_loop::current().shard();
      });
      EXPECT_EQ(all, (std::vector{0U, 1U, 2U}));
      std::ignore = co_await sleep_for(shard.loop(), 1ms);
    }
  });
  world.run();
  EXPECT_EQ(calls, 3U * 50 * 3);
  EXPECT_GT(times(world, sim_fault::overlap), 0U);
}

task<void> keep_calling(std::optional<error>& why_not) {
  for (int i = 0; i < 100; ++i) {
    const auto answer = co_await on(1, [] {});
    if (!answer) why_not = answer.error();
    std::ignore = co_await sleep_for(event_loop::current(), 100us);
  }
}

TEST(sim_world, ends_calls_to_a_shard_that_has_ended) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::optional<error> why_not;
    sim_world world{seed, only(sim_fault::late_wake)};
    world.add_host("host", 2).runs([&](sim_shard& shard) -> task<void> {
      // Outlives its main, and so the other shard.
      if (shard.index() == 0)
        shard.loop().spawn(shielded(keep_calling(why_not), deadline::never()));
      co_return;
    });
    world.run();
    EXPECT_EQ(why_not, errc::closed);
  }
}

TEST(sim_world, crashes_hosts_and_lets_them_begin_anew) {
  sim_world world{1, only(sim_fault::crash)};
  auto& server = world.add_host("server");
  int lives = 0;
  server.serves([&](sim_shard& shard) {
    ++lives;
    return echo_one(shard);
  });
  server.may_crash();
  int answers = 0;
  int losses = 0;
  world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
    while (shard.loop().now() < sim_network::beginning + 60s) {
      const std::string answer = co_await ask(shard, server, "hello");
      ++(answer == "hello" ? answers : losses);
      std::ignore = co_await sleep_for(shard.loop(), 5ms);
    }
  });
  world.run();
  EXPECT_GT(times(world, sim_fault::crash), 1U);
  EXPECT_EQ(static_cast<std::uint64_t>(lives), times(world, sim_fault::crash) + 1);
  EXPECT_GT(answers, 1'000);
  EXPECT_GT(losses, 0);
}

TEST(sim_world, breaks_connections) {
  sim_world world{1, only(sim_fault::reset)};
  auto& server = world.add_host("server");
  server.serves(echo_one);
  bool was_struck = false;
  world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
    auto stream = co_await net::tcp_stream::connect(shard.loop(), server.endpoint(7));
    EXPECT_TRUE(stream.has_value());
    const auto bytes = co_await stream->read();
    EXPECT_EQ(bytes.error(), errc::reset);
    was_struck = world.network().was_struck(stream->local_endpoint()->raw());
  });
  world.run();
  EXPECT_TRUE(was_struck);
}

TEST(sim_world, gives_partitions_an_end) {
  sim_world world{3, only(sim_fault::partition, 3s)};
  auto& server = world.add_host("server");
  server.serves(echo_one);
  duration longest{};
  world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
    while (shard.loop().now() < sim_network::beginning + 5s) {
      const time_point start = shard.loop().now();
      const std::string answer = co_await ask(shard, server, "hello");
      EXPECT_EQ(answer, "hello") << "late, but whole";
      longest = std::max(longest, shard.loop().now() - start);
    }
  });
  world.run();
  EXPECT_GT(longest, 100ms);
}

TEST(sim_world, cuts_reads_and_writes_down_to_a_byte) {
  for (const sim_fault kind : {sim_fault::short_read, sim_fault::short_write}) {
    sim_world world{1, only(kind)};
    auto& server = world.add_host("server");
    server.serves(echo_one);
    const std::string sent(200'000, 'x');
    std::string answer;
    world.add_host("client").runs(
        [&](sim_shard& shard) -> task<void> { answer = co_await ask(shard, server, sent); });
    world.run();
    EXPECT_EQ(answer, sent);
    EXPECT_GT(times(world, kind), 2U);
  }
}

class one_kind_of_fault : public ::testing::TestWithParam<std::size_t> {
 protected:
  one_kind_of_fault() { log::set_level(log::level::off); }
  ~one_kind_of_fault() override { log::set_level(level_before_); }

 private:
  log::level level_before_ = log::current_level();
};
INSTANTIATE_TEST_SUITE_P(
    kinds, one_kind_of_fault,
    ::testing::Range<std::size_t>(0, static_cast<std::size_t>(first_counted_fault)),
    [](const auto& kind) {
      std::string name{to_string(static_cast<sim_fault>(kind.param))};
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST_P(one_kind_of_fault, strikes_and_loses_nothing_that_it_has_not_struck) {
  const auto kind = static_cast<sim_fault>(GetParam());
  std::uint64_t strikes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim_world world{seed, only(kind)};
    auto& server = world.add_host("server");
    server.serves(echo_one);
    server.may_crash();
    world.add_host("client", 2).runs([&](sim_shard& shard) -> task<void> {
      while (shard.loop().now() < sim_network::beginning + 1s) {
        const auto answer_there = co_await on(1 - shard.index(), [] { return 7; });
        world.expect(answer_there == 7, "a shard answers another");
        if (auto socket = net::udp_socket::connect(shard.loop(), server.endpoint(9)))
          std::ignore = co_await socket->send("is anybody there?");
        auto stream = co_await net::tcp_stream::connect(shard.loop(), server.endpoint(7));
        std::ignore = co_await sleep_for(shard.loop(), 1ms);
        if (!stream) continue;
        const net::endpoint self = stream->local_endpoint().value();
        std::ignore = co_await stream->write("hello");
        std::string answer;
        while (answer.size() < 5) {
          const auto bytes = co_await read_hastily(shard, *stream);
          if (bytes) answer += bytes->text();
          if (!bytes && bytes.error() != errc::timed_out) break;
        }
        world.expect(answer == "hello" || world.network().was_struck(self.raw()),
                     "what is lost has been struck");
      }
    });
    world.run();
    strikes += times(world, kind);
  }
  EXPECT_GT(strikes, 0U);
}

TEST(sim_world, steps_wall_clocks) {
  sim_world world{1, only(sim_fault::clock_step)};
  duration farthest{};
  world.add_host("host").runs([&](sim_shard& shard) -> task<void> {
    const duration wall = shard.loop().wall_now();
    const time_point start = shard.loop().now();
    for (int i = 0; i < 100; ++i) {
      std::ignore = co_await sleep_for(shard.loop(), 10ms);
      const duration drift = (shard.loop().wall_now() - wall) - (shard.loop().now() - start);
      farthest = std::max(farthest, std::chrono::abs(drift));
    }
  });
  world.run();
  EXPECT_GT(farthest, 1min);
}

TEST(sim_world, runs_a_test_with_every_seed_or_with_the_one_to_be_replayed) {
  std::vector<std::uint64_t> seeds;
  const auto note = [&](std::uint64_t seed) { seeds.push_back(seed); };
  sim_world::for_seeds(3, note);
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  seeds.clear();
  ::setenv("WEFT_SEED", "17", 1);
  sim_world::for_seeds(3, note);
  ::unsetenv("WEFT_SEED");
  EXPECT_EQ(seeds, std::vector<std::uint64_t>{17});
}

TEST(sim_world, takes_its_seed_from_the_environment) {
  ::setenv("WEFT_SEED", "17", 1);
  EXPECT_EQ(sim_world::seed_or(1), 17U);
  ::unsetenv("WEFT_SEED");
  EXPECT_EQ(sim_world::seed_or(1), 1U);
}

}  // namespace
}  // namespace weft::testing
