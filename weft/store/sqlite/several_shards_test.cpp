// Shards of one process on the same files: who was told of a write on one sees it on another.
#include <atomic>
#include <cstdint>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

struct last_outcome final : write_sink {
  void done(std::size_t) override { is_done = true; }
  void missing(std::size_t) override {}
  void failed(std::size_t, const failure& why) override { ADD_FAILURE() << why.message; }
  bool is_done = false;
};

class several_shards : public engine_fixture {
 protected:
  static task<bool> set_note(engine& shop, std::int64_t id, std::string note) {
    const catalog_ref schema = shop.schema();
    const value key = value::integer(id);
    const value set = value::text(note);
    const column_position column = 1;
    const key_write operation{
        write_kind::upsert, schema->find("shop", "t"), {&key, 1}, {&column, 1}, {&set, 1}};
    last_outcome told;
    const auto written = co_await shop.write({&operation, 1}, told);
    co_return written&& told.is_done;
  }

  /// Another shard, with a thread and a loop of its own.
  template <class Body>
  std::thread start_shard(Body body) {
    return std::thread{[this, body]() mutable {
      auto loop = event_loop::create({.backend = backend_kind::epoll});
      ASSERT_TRUE(loop);
      static constexpr std::string_view name = "another";
      lifetime own{name};
      telemetry::registry metrics;
      engine tried{options_, **loop, own, metrics.shard(0)};
      (*loop)->spawn(live(tried, own, body));
      (*loop)->run();
    }};
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, several_shards, ::testing::Values(backend_kind::epoll),
                         backend_name);

TEST_P(several_shards, see_what_one_of_them_was_told_even_in_a_turn_that_has_read_before) {
  make_database("shop",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT); INSERT INTO t VALUES(1,'old')");
  std::binary_semaphore has_read{0};
  std::binary_semaphore is_written{0};
  std::thread other = start_shard([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await look_up(shop, "shop", "t", {value::integer(1)}), R"(["old"])");
    has_read.release();
    is_written.acquire();  // in the midst of the turn, and of its transaction
    EXPECT_EQ(co_await look_up(shop, "shop", "t", {value::integer(1)}), R"(["new"])");
  });
  run([&](engine& shop) -> task<void> {
    has_read.acquire();
    EXPECT_TRUE(co_await set_note(shop, 1, "new"));
    is_written.release();
  });
  other.join();
}

TEST_P(several_shards, write_and_read_at_once) {
  constexpr int rounds = 60;
  constexpr int shards = 3;
  make_database("shop", "CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT)");
  std::atomic<int> right{0};
  const auto work = [&](std::int64_t id) {
    return [&right, id](engine& shop) -> task<void> {
      for (int i = 0; i < rounds; ++i) {
        const std::string note = std::to_string(i);
        const bool is_set = co_await set_note(shop, id, note);
        const std::string found = co_await look_up(shop, "shop", "t", {value::integer(id)});
        right += is_set && found == "[\"" + note + "\"]" ? 1 : 0;
      }
    };
  };
  std::vector<std::thread> others;
  for (int i = 1; i < shards; ++i) others.push_back(start_shard(work(i)));
  run(work(0));
  for (std::thread& each : others) each.join();
  EXPECT_EQ(right, rounds * shards);
}

}  // namespace
}  // namespace weft::store::sqlite
