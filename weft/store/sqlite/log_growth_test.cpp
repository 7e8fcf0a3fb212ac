// The log of a database while queries keep it from being emptied: writes go on, and it is bounded.
#include <weft/store/sqlite/engine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <weft/coro/scope.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t page_bytes_here = 4096;

class counting_query_sink final : public query_sink {
 public:
  void columns(std::span<const column> /*given*/) override {}
  bool row(std::span<const value> /*values*/) override { return ++rows < enough; }
  void failed(const failure& why) override {
    last_kind = why.kind;
    message = why.message;
  }
  std::size_t rows = 0;
  std::size_t enough = std::size_t{1} << 60U;
  failure_kind last_kind = failure_kind::other;
  std::string message;
};

class one_write_sink final : public write_sink {
 public:
  void done(std::size_t /*operation*/) override { is_done = true; }
  void missing(std::size_t /*operation*/) override {}
  void failed(std::size_t /*operation*/, const failure& why) override {
    ADD_FAILURE() << why.message;
  }
  bool is_done = false;
};

class log_growth : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    make_database("shop", "CREATE TABLE t(id INTEGER PRIMARY KEY, note VARCHAR(20))");
    options_.synchronous = durability::off;
    options_.query_time = std::chrono::minutes{1};
  }

  static task<void> insert(engine& into, std::int64_t id) {
    const catalog_ref schema = into.schema();
    const table* const found = schema->find("shop", "t");
    const value key = value::integer(id);
    const value note = value::text("twenty bytes of text");
    const column_position at = found->find("note").value();
    const key_write operation{write_kind::insert, found, {&key, 1}, {&at, 1}, {&note, 1}};
    one_write_sink sink;
    const auto written = co_await into.write({&operation, 1}, sink);
    EXPECT_TRUE(written && sink.is_done);
  }

  /// Rows without end: the first of them tells that it has begun.
  static task<void> ask_on(engine& in, counting_query_sink& sink, bool& has_ended) {
    static_cast<void>(co_await in.query(
        {.database = "shop",
         .text = "WITH RECURSIVE c(x) AS (SELECT count(*) FROM t UNION ALL SELECT x+1 FROM c) "
                 "SELECT x FROM c"},
        sink));
    has_ended = true;
  }
  task<void> until_begun(const counting_query_sink& sink) {
    while (sink.rows == 0) co_await next_turn();
  }

  [[nodiscard]] std::size_t log_bytes() const {
    std::error_code why;
    const auto size = std::filesystem::file_size(path_of("shop") + "-wal", why);
    return why ? 0 : size;
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, log_growth, kernel_backends, backend_name);

TEST_P(log_growth, keeps_no_write_waiting_for_a_query) {
  options_.checkpoint_pages = 4;
  options_.busy_timeout = std::chrono::hours{1};
  run([&](engine& shop) -> task<void> {
    counting_query_sink sink;
    bool has_ended = false;
    scope asking{co_await this_task::environment()};
    asking.spawn(ask_on(shop, sink, has_ended));
    co_await until_begun(sink);
    // Beyond 64 pages it is to be emptied, and beyond 256 the query would be in the way.
    for (int i = 0; i < 80; ++i) co_await insert(shop, i);
    EXPECT_GT(log_bytes(), 64 * page_bytes_here);
    EXPECT_FALSE(has_ended) << sink.message;
    asking.request_stop();
    co_await asking.join();
  });
}

TEST_P(log_growth, ends_a_query_that_lets_it_grow_too_long) {
  options_.checkpoint_pages = 2;
  run([&](engine& shop) -> task<void> {
    counting_query_sink sink;
    bool has_ended = false;
    scope asking{co_await this_task::environment()};
    asking.spawn(ask_on(shop, sink, has_ended));
    co_await until_begun(sink);
    int written = 0;
    while (!has_ended && written < 2000) co_await insert(shop, written++);
    EXPECT_EQ(sink.last_kind, failure_kind::busy);
    EXPECT_TRUE(sink.message.contains("log")) << sink.message;
    while (log_bytes() > 32 * page_bytes_here && written < 4000) co_await insert(shop, written++);
    EXPECT_LE(log_bytes(), 32 * page_bytes_here);
    co_await asking.join();
  });
}

TEST_P(log_growth, is_bounded_while_one_query_follows_the_other) {
  options_.checkpoint_pages = 2;
  run([&](engine& shop) -> task<void> {
    bool are_enough = false;
    const auto ask_again = [&](std::size_t rows) -> task<void> {
      while (!are_enough) {
        counting_query_sink sink;
        sink.enough = rows;
        bool has_ended = false;
        co_await ask_on(shop, sink, has_ended);
      }
    };
    scope asking{co_await this_task::environment()};
    asking.spawn(ask_again(30'000));
    asking.spawn(ask_again(70'000));
    std::size_t longest = 0;
    for (int i = 0; i < 500; ++i) {
      co_await insert(shop, i);
      longest = std::max(longest, log_bytes());
    }
    are_enough = true;
    co_await asking.join();
    EXPECT_LE(longest, 512 * page_bytes_here);
  });
}

}  // namespace
}  // namespace weft::store::sqlite
