// Memory runs out while rows are read, at each allocation in turn, by all ways there are: once
// there is memory again all of them work, and no connection has kept a moment of the database open.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/sqlite/cold_batch.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/memory_budget.hpp>
#include <weft/store/sqlite/query_run.hpp>
#include <weft/store/sqlite/scan_slice.hpp>
#include <weft/store/sqlite/storage.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::store::sqlite {
namespace {

constexpr column_position note_at = 1;

/// Allocates for each row, as one that writes a reply does.
struct allocating_sink final : read_sink {
  void row(std::size_t, std::span<const value> values) override {
    texts.push_back(std::make_unique<std::string>(values.back().as_text()));
  }
  void missing(std::size_t) override { ADD_FAILURE() << "all rows are there"; }
  void failed(std::size_t, const failure& why) override {
    EXPECT_EQ(why.kind, failure_kind::no_memory) << why.message;
  }

  std::vector<std::unique_ptr<std::string>> texts;
};

class reader_memory : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
    make_database("shop",
                  "CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT, n INT);"
                  "CREATE INDEX by_n ON t(n);"
                  "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c"
                  " WHERE x<5) SELECT x, 'a note that is longer than a short string', x FROM c");
    ASSERT_EQ(sqlite3_open(path_of("shop").c_str(), &other_), SQLITE_OK);
  }
  void TearDown() override {
    sqlite3_close(other_);
    engine_fixture::TearDown();
  }

  /// Whether nobody reads what was there before a write of now.
  [[nodiscard]] bool can_empty_log() {
    EXPECT_EQ(sqlite3_exec(other_, "UPDATE t SET n=n+1", nullptr, nullptr, nullptr), SQLITE_OK);
    return sqlite3_wal_checkpoint_v2(other_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                     nullptr) == SQLITE_OK;
  }

  /// Calls `work` until none of its allocations has failed, and `look` after each time.
  template <class Work, class Look>
  void sweep(Work work, Look look) {
    for (const auto how : {testing::failing::once, testing::failing::for_good}) {
      bool has_failed = true;
      for (std::uint64_t nth = 1; has_failed; ++nth) {
        SCOPED_TRACE("allocation " + std::to_string(nth) +
                     (how == testing::failing::once ? "" : " and all after it"));
        {
          const hoard all;
          const testing::allocation_failures here{nth, how};
          try {
            work();
          } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
            // Whatever was done by then.
          }
          has_failed = here.has_failed();
        }
        EXPECT_TRUE(can_empty_log()) << "a moment of the database is still open";
        look();
        if (HasFailure()) return;
      }
    }
    SUCCEED();
  }

  /// As sweep(), for what SQLite alone allocates.
  template <class Work, class Look>
  void sweep_sqlite(Work work, Look look) {
    bool was_exceeded = true;
    for (std::uint64_t bytes = 0; was_exceeded; bytes += 256) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      {
        memory_budget most{bytes};
        const memory_budget::use here{most};
        work();
        was_exceeded = most.was_exceeded();
      }
      EXPECT_TRUE(can_empty_log()) << "a moment of the database is still open";
      look();
      if (HasFailure()) return;
    }
  }

  /// Of the tables, and which version of the schema that is.
  void learn_schema() {
    run([&](engine& shop) -> task<void> {
      schema_ = shop.schema();
      co_return;
    });
    sqlite3_stmt* asked = nullptr;
    sqlite3_prepare_v2(other_, "PRAGMA schema_version", -1, &asked, nullptr);
    sqlite3_step(asked);
    version_ = sqlite3_column_int64(asked, 0);
    sqlite3_finalize(asked);
    auto opened = storage::open(options_, takes_lock::no);
    ASSERT_TRUE(opened) << opened.error();
    files_ = std::move(*opened);
  }

  [[nodiscard]] const table& t() const { return *schema_->find("shop", "t"); }

  catalog_ref schema_;
  std::int64_t version_ = 0;
  std::shared_ptr<storage> files_;
  sqlite3* other_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(sqlite, reader_memory, ::testing::Values(backend_kind::simulated),
                         backend_name);

TEST_P(reader_memory, a_shared_read_leaves_nothing_open) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const table* const t = schema->find("shop", "t");
    std::vector<value> keys;
    for (int i = 1; i <= 5; ++i) keys.push_back(value::integer(i));
    std::vector<key_read> operations;
    for (const value& key : keys) operations.push_back({t, {&key, 1}, {&note_at, 1}});
    for (const bool is_new : {true, false})
      for (const auto how : {testing::failing::once, testing::failing::for_good}) {
        bool has_failed = true;
        for (std::uint64_t nth = 1; has_failed; ++nth) {
          SCOPED_TRACE("allocation " + std::to_string(nth) +
                       (how == testing::failing::once ? "" : " and all after it"));
          if (is_new) {
            // Of another schema, so that statements are prepared.
            EXPECT_EQ(sqlite3_exec(other_,
                                   "CREATE TABLE IF NOT EXISTS u(id INTEGER PRIMARY KEY);"
                                   "DROP TABLE u",
                                   nullptr, nullptr, nullptr),
                      SQLITE_OK);
            EXPECT_TRUE(co_await shop.refresh());
          }
          allocating_sink found;
          {
            const hoard all;
            const testing::allocation_failures here{nth, how};
            try {
              static_cast<void>(co_await shop.read(operations, found));
            } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
              // Whatever was done by then.
            }
            has_failed = here.has_failed();
          }
          co_await next_turn();
          EXPECT_TRUE(can_empty_log()) << "a moment of the database is still open";
          allocating_sink again;
          EXPECT_TRUE(co_await shop.read(operations, again));
          EXPECT_EQ(again.texts.size(), 5U);
          co_await next_turn();
          if (HasFailure()) co_return;
        }
      }
  });
}

TEST_P(reader_memory, a_cold_read_leaves_nothing_open) {
  learn_schema();
  const value key = value::integer(3);
  const key_read operation{&t(), {&key, 1}, {&note_at, 1}};
  engine_counts counts{metrics_->shard(0)};
  const auto read = [&] {
    cold_batch batch{*files_,      "shop",          version_,
                     std::nullopt, {&operation, 1}, cold_batch::bytes_max_at_first};
    batch.run();
    memory_reservation none;
    allocating_sink found;
    batch.tell(0, 0, found, counts, none);
    return found.texts.size() == 1;
  };
  const auto look = [&] { EXPECT_TRUE(read()); };
  sweep([&] { static_cast<void>(read()); }, look);
  sweep_sqlite([&] { static_cast<void>(read()); }, look);
}

TEST_P(reader_memory, a_scan_leaves_nothing_open) {
  learn_schema();
  static constexpr column_position n_at = 2;
  const filter odd{.kind = filter_kind::less, .column = n_at, .with = value::integer(1'000'000)};
  for (const bool by_steps : {false, true}) {
    const scan_request request{
        .from = &t(), .columns = {&note_at, 1}, .where = &odd, .index = 0, .limit = 100};
    const auto scan = [&] {
      scan_slice slice{
          *files_, version_, request, {}, 100, std::size_t{1} << 20U, {.by_steps = by_steps}};
      slice.run();
      EXPECT_FALSE(slice.is_stale());
      const failure_kind why = slice.fault().kind;
      EXPECT_TRUE(slice.fault().message.empty() || why == failure_kind::no_memory ||
                  why == failure_kind::input_output)
          << slice.fault().message;
      return slice.rows();
    };
    const auto look = [&] { EXPECT_EQ(scan(), 5U); };
    sweep([&] { static_cast<void>(scan()); }, look);
    sweep_sqlite([&] { static_cast<void>(scan()); }, look);
  }
}

TEST_P(reader_memory, a_query_leaves_nothing_open) {
  learn_schema();
  const query_request request{.database = "shop", .text = "SELECT id, note FROM t ORDER BY note"};
  const auto ask = [&] {
    query_run run{*files_, request, {time_point::max(), std::uint64_t{64} << 20U}};
    run.advance();
    return run.rows();
  };
  const auto look = [&] { EXPECT_EQ(ask(), 5U); };
  sweep([&] { static_cast<void>(ask()); }, look);
}

}  // namespace
}  // namespace weft::store::sqlite
