#include <weft/net/connection_spread.hpp>

#include <array>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/shards_fixture_test.hpp>
#include <weft/net/tcp_listener.hpp>

namespace weft::net {
namespace {

/// What a shard has of a test: its place, and what is served there.
struct desk {
  std::optional<scope> tasks;
  std::optional<spread_place> place;
  std::size_t admitted = 0;
};

task<void> tell_where(tcp_stream client) {
  auto asked = co_await client.read();
  if (asked) std::ignore = co_await client.write(std::to_string(event_loop::current().shard()));
  std::ignore = co_await client.close();
}

class connection_spread_test : public on_shards {
 protected:
  static constexpr unsigned shards = 3;

  task<void> open(unsigned shard, std::size_t load) {
    co_await on(shard, [this, load] {
      event_loop& loop = event_loop::current();
      desk& here = desks_[loop.shard()];
      here.tasks.emplace(environment{.runs_on = &loop});
      here.place.emplace(spread_, loop, [&here](tcp_stream client) {
        here.place->set_load(++here.admitted);
        here.tasks->spawn(tell_where(std::move(client)));
      });
      here.admitted = load;
      here.place->set_load(load);
    });
  }

  task<void> close(unsigned shard) {
    co_await on(shard, [this]() -> task<void> {
      desk& here = desks_[event_loop::current().shard()];
      co_await here.place->close();
      co_await here.tasks->join();
      here.place.reset();
      here.tasks.reset();
    });
  }

  /// A connection is accepted here, and on its way to shard 1, when `then` is run there: it is kept
  /// in a call so long.
  task<tcp_stream> send_one(event_loop& loop, unique_function<task<void>()> then) {
    auto listener = tcp_listener::bind(loop, endpoint::loopback(0));
    auto client = co_await tcp_stream::connect(loop, listener->local_endpoint());
    auto accepted = co_await listener->accept();
    std::binary_semaphore begun{0};
    std::binary_semaphore sent{0};
    scope tasks{co_await this_task::environment()};
    tasks.spawn(keep(begun, sent, std::move(then)));
    while (!begun.try_acquire()) co_await yield{loop};
    const bool passed = desks_[0].place->pass_on(*accepted);
    EXPECT_TRUE(passed);
    sent.release();
    co_await tasks.join();
    co_return std::move(*client);
  }
  static task<void> keep(std::binary_semaphore& begun, std::binary_semaphore& sent,
                         unique_function<task<void>()> then) {
    co_await on(1, [&]() -> task<void> {
      begun.release();
      sent.acquire();
      co_await then();
    });
  }

  /// Whether another shard has the next client now.
  task<bool> pass(tcp_listener& listener, std::string& served_by) {
    event_loop& loop = event_loop::current();
    auto client = co_await tcp_stream::connect(loop, listener.local_endpoint());
    auto accepted = co_await listener.accept();
    const bool passed = desks_[loop.shard()].place->pass_on(*accepted);
    EXPECT_EQ(accepted->is_open(), !passed);
    if (!passed) co_return false;
    EXPECT_TRUE((co_await client->write("where?")).has_value());
    const auto answer = co_await client->read();
    served_by = answer ? std::string{answer->text()} : answer.error().message();
    co_return true;
  }

  std::shared_ptr<connection_spread> spread_ = std::make_shared<connection_spread>(shards);
  std::array<desk, shards> desks_;
};

INSTANTIATE_TEST_SUITE_P(backends, connection_spread_test, threaded_backends, shards_backend_name);

TEST_P(connection_spread_test, passes_on_until_the_difference_is_one) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await open(0, 3);
    co_await open(1, 2);
    co_await open(2, 0);
    auto listener = tcp_listener::bind(loop, endpoint::loopback(0));
    for (int i = 0; i < 2; ++i) {
      std::string served_by;
      const bool passed = co_await pass(*listener, served_by);
      EXPECT_TRUE(passed);
      EXPECT_EQ(served_by, "2");
    }
    std::string nobody;
    const bool passed = co_await pass(*listener, nobody);
    EXPECT_FALSE(passed);
    for (unsigned shard = 0; shard < shards; ++shard) co_await close(shard);
    EXPECT_EQ(desks_[2].admitted, 2U);
  });
}

TEST_P(connection_spread_test, counts_those_on_their_way) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await open(0, 8);
    co_await open(1, 0);
    co_await open(2, 0);
    auto listener = tcp_listener::bind(loop, endpoint::loopback(0));
    for (int i = 0; i < 8; ++i) {
      auto client = co_await tcp_stream::connect(loop, listener->local_endpoint());
      auto accepted = co_await listener->accept();
      const bool passed = desks_[0].place->pass_on(*accepted);
      EXPECT_TRUE(passed);
    }
    for (unsigned shard = 0; shard < shards; ++shard) co_await close(shard);
    // What arrives leaves the way and joins the load one after the other: one may be seen twice.
    EXPECT_EQ(desks_[1].admitted + desks_[2].admitted, 8U);
    EXPECT_GE(desks_[1].admitted, 3U);
    EXPECT_GE(desks_[2].admitted, 3U);
  });
}

TEST_P(connection_spread_test, passes_nothing_on_to_who_has_closed) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await open(0, 9);
    co_await open(1, 0);
    co_await open(2, 4);
    co_await on(1, [this] { return desks_[1].place->close(); });
    auto listener = tcp_listener::bind(loop, endpoint::loopback(0));
    std::string served_by;
    const bool passed = co_await pass(*listener, served_by);
    EXPECT_TRUE(passed);
    EXPECT_EQ(served_by, "2");
    co_await close(2);
    const bool passed_again = co_await pass(*listener, served_by);
    EXPECT_FALSE(passed_again);
    co_await close(0);
    co_await close(1);
  });
}

TEST_P(connection_spread_test, waits_for_what_is_on_its_way) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await open(0, 9);
    co_await open(1, 0);
    std::size_t admitted = 0;
    auto client = co_await send_one(loop, [&]() -> task<void> {
      co_await desks_[1].place->close();
      admitted = desks_[1].admitted;
    });
    EXPECT_EQ(admitted, 1U);
    std::ignore = co_await client.close();
    co_await close(0);
    co_await close(1);
  });
}

TEST_P(connection_spread_test, cuts_what_comes_to_who_has_gone) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await open(0, 9);
    co_await open(1, 0);
    auto client = co_await send_one(loop, [&]() -> task<void> {
      desks_[1].place.reset();
      desks_[1].tasks.reset();
      co_return;
    });
    const auto answer = co_await client.read();
    EXPECT_FALSE(answer.has_value());
    auto listener = tcp_listener::bind(loop, endpoint::loopback(0));
    std::string nobody;
    const bool passed = co_await pass(*listener, nobody);
    EXPECT_FALSE(passed) << "to who has gone";
    co_await close(0);
  });
}

}  // namespace
}  // namespace weft::net
