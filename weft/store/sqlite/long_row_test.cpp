// Rows with long values: what SQLite copies of them is reserved first, and so is what a sink makes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/memory_budget.hpp>
#include <weft/coro/when_all.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

/// What each operation has come to: how many bytes its values have, and what was reserved.
class weighing_sink final : public read_sink {
 public:
  void row(std::size_t, std::span<const value> values) override {
    std::size_t bytes = 0;
    for (const value& each : values)
      if (each.kind() == value_kind::text) bytes += each.as_text().size();
    rows.push_back(bytes);
  }
  void long_row(std::size_t operation, std::span<const value> values,
                memory_reservation memory) override {
    row(operation, values);
    EXPECT_GE(memory.bytes(), told_bytes(rows.back(), values.size()));
    reserved.push_back(memory.bytes());
  }
  void missing(std::size_t) override { ++missed; }
  void failed(std::size_t, const failure& why) override { failures.push_back(why.kind); }

  std::vector<std::size_t> rows;
  std::vector<std::size_t> reserved;
  std::vector<failure_kind> failures;
  std::size_t missed = 0;
};

class long_row : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    loop_.reset();  // a thread has one
    auto made = event_loop::create({.backend = GetParam(), .memory = &budget_});
    if (!made) GTEST_SKIP() << "no such backend here";
    loop_ = std::move(*made);
  }
  void TearDown() override {
    if (loop_) EXPECT_EQ(in_use(), 0U) << "nothing stays reserved";
    engine_fixture::TearDown();
  }

  [[nodiscard]] std::size_t in_use() const {
    const memory_gauges now = loop_->memory().gauges();
    return now.bytes[std::to_underlying(memory_kind::queries)] +
           now.bytes[std::to_underlying(memory_kind::replies)];
  }

  /// In t of d, each value of `bytes` times two.
  void make_wide_row(int columns, int bytes) {
    std::string names;
    std::string values;
    for (int i = 0; i < columns; ++i) {
      names += ",c" + std::to_string(i) + " TEXT";
      values += ",hex(zeroblob(" + std::to_string(bytes) + "))";
    }
    make_database("d", "CREATE TABLE t(id INTEGER PRIMARY KEY" + names +
                           "); INSERT INTO t VALUES(1" + values + ")");
  }

  /// All columns but the key's, of t in d.
  static task<result<void>> weigh(engine& in, std::vector<std::int64_t> ids, read_sink& to) {
    const catalog_ref schema = in.schema();
    const table* const t = schema->find("d", "t");
    std::vector<value> keys;
    for (const std::int64_t id : ids) keys.push_back(value::integer(id));
    const std::vector<column_position> columns(t->values().begin(), t->values().end());
    std::vector<key_read> operations;
    for (const value& key : keys) operations.push_back({t, {&key, 1}, columns});
    co_return co_await in.read(operations, to);
  }

  /// Of the columns a and b.
  static task<std::string> lengths(engine& in, std::vector<std::int64_t> ids) {
    struct noted_lengths final : read_sink {
      void row(std::size_t, std::span<const value> values) override {
        text += std::to_string(values[1].as_text().size()) + " " +
                std::to_string(values[2].as_text().size()) + ", ";
      }
      void missing(std::size_t) override { text += "missing, "; }
      void failed(std::size_t, const failure& why) override {
        text += why.kind == failure_kind::too_large ? "too large, " : why.message;
      }
      std::string text;
    } found;
    if (const auto read = co_await weigh(in, std::move(ids), found); !read)
      co_return read.error().message();
    co_return found.text;
  }

  memory_budget budget_{64 * mebibyte};
};
INSTANTIATE_TEST_SUITE_P(sqlite, long_row,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(long_row, is_read_on_another_thread_and_reserved) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, hex(zeroblob(32768))), (2, hex(zeroblob(32769))),"
                "(3, hex(zeroblob(150000))), (4, hex(zeroblob(4000000))), (5, 'short')");
  run([&](engine& in) -> task<void> {
    weighing_sink found;
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    EXPECT_EQ(counted("store_reads_total", {{"by", "thread"}}), 0);
    EXPECT_TRUE(co_await weigh(in, {2, 3, 9, 4, 5}, found));
    EXPECT_EQ(found.rows, (std::vector<std::size_t>{65536, 65538, 300'000, 8'000'000, 5}));
    EXPECT_EQ(found.reserved.size(), 3U);
    EXPECT_EQ(found.missed, 1U);
    EXPECT_GE(counted("store_reads_total", {{"by", "thread"}}), 3);
    EXPECT_EQ(counted("store_rows_read_total"), 5);
  });
}

TEST_P(long_row, with_several_long_values_comes_whole) {
  make_wide_row(12, 500000);
  run([&](engine& in) -> task<void> {
    weighing_sink found;
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    EXPECT_EQ(found.rows, std::vector<std::size_t>{12'000'000});
  });
}

/// None of its values is long.
TEST_P(long_row, of_many_columns_counts_as_a_whole) {
  make_wide_row(500, 5000);
  run([&](engine& in) -> task<void> {
    weighing_sink found;
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    EXPECT_EQ(found.rows, std::vector<std::size_t>{5'000'000});
    EXPECT_EQ(found.reserved.size(), 1U);
    EXPECT_EQ(counted("store_read_wait_ns"), 2) << "the first try tells how long the row is";
  });
}

TEST_P(long_row, of_many_columns_that_never_fits_is_refused_at_once) {
  make_wide_row(500, 30000);
  run([&](engine& in) -> task<void> {
    weighing_sink found;
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    EXPECT_EQ(found.failures, std::vector{failure_kind::too_large});
    EXPECT_EQ(counted("store_read_wait_ns"), 1);
  });
}

/// Who keeps what was reserved for the rows before waits for memory that nobody else has.
TEST_P(long_row, that_never_fits_beside_those_before_is_refused) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, hex(zeroblob(5000000))), (2, hex(zeroblob(5000000))),"
                "(3, hex(zeroblob(5000000)))");
  run([&](engine& in) -> task<void> {
    struct keeps_all final : read_sink {
      void row(std::size_t, std::span<const value>) override { ++rows; }
      void long_row(std::size_t, std::span<const value>, memory_reservation memory) override {
        ++rows;
        kept.push_back(std::move(memory));
      }
      void missing(std::size_t) override {}
      void failed(std::size_t, const failure& why) override { failures.push_back(why.kind); }
      [[nodiscard]] std::size_t kept_bytes() const override {
        std::size_t bytes = 0;
        for (const memory_reservation& each : kept) bytes += each.bytes();
        return bytes;
      }
      std::size_t rows = 0;
      std::vector<memory_reservation> kept;
      std::vector<failure_kind> failures;
    } found;
    EXPECT_TRUE(co_await weigh(in, {1, 2, 3}, found));
    // How much SQLite takes beside a row is another matter with each version of it.
    EXPECT_GE(found.rows, 1U);
    EXPECT_FALSE(found.failures.empty());
    for (const failure_kind each : found.failures) EXPECT_EQ(each, failure_kind::too_large);
    EXPECT_EQ(found.rows + found.failures.size(), 3U);
  });
}

/// printf() makes NULL of what is longer than SQLite may copy, and a blob of zeros has no bytes
/// yet.
TEST_P(long_row, that_is_computed_when_it_is_read_is_what_it_is) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER,"
                "a TEXT AS (printf('%.*c', n, 'x')), b BLOB AS (zeroblob(n)));"
                "INSERT INTO t VALUES(1, 10), (2, 100000), (3, 3000000), (4, 20000000)");
  run([&](engine& in) -> task<void> {
    EXPECT_EQ(co_await lengths(in, {1, 2, 3}), "10 10, 100000 100000, 3000000 3000000, ");
    EXPECT_EQ(co_await lengths(in, {4}), "too large, ");
  });
}

TEST_P(long_row, for_which_there_never_is_memory_is_refused_alone) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, 'short'), (2, hex(zeroblob(12000000))),"
                "(3, hex(zeroblob(500000)))");
  run([&](engine& in) -> task<void> {
    for (int i = 0; i < 3; ++i) {  // by the same reader
      weighing_sink found;
      EXPECT_TRUE(co_await weigh(in, {1, 2, 3}, found));
      EXPECT_EQ(found.rows, (std::vector<std::size_t>{5, 1'000'000}));
      EXPECT_EQ(found.failures, std::vector{failure_kind::too_large});
    }
  });
}

TEST_P(long_row, waits_for_memory_a_second_and_no_longer) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, 'short'), (2, hex(zeroblob(2000000)))");
  run([&](engine& in) -> task<void> {
    memory_reservation others = loop_->memory().hold(memory_kind::output, 44 * mebibyte);
    weighing_sink found;
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    const auto read = co_await weigh(in, {2}, found);
    EXPECT_FALSE(read);
    if (!read) EXPECT_EQ(read.error(), errc::exhausted);
    EXPECT_EQ(found.rows, std::vector<std::size_t>{5});
    others.reset();
    EXPECT_TRUE(co_await weigh(in, {2}, found));
    EXPECT_EQ(found.rows.back(), 4'000'000U);
  });
}

/// A sink that keeps what is reserved for each row until the batch has ended, as a reply does.
class keeping_sink final : public read_sink {
 public:
  void row(std::size_t, std::span<const value>) override { ++rows; }
  void long_row(std::size_t, std::span<const value>, memory_reservation memory) override {
    ++rows;
    kept_.push_back(std::move(memory));
  }
  void missing(std::size_t) override { ADD_FAILURE() << "all rows are there"; }
  void failed(std::size_t, const failure& why) override { ADD_FAILURE() << why.message; }

  std::size_t rows = 0;

 private:
  std::vector<memory_reservation> kept_;
};

/// Each batch fits the budget, and all of them together do not. Whichever is not served in a second
/// may fail.
TEST_P(long_row, of_batches_that_hold_rows_one_goes_on) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, hex(zeroblob(2000000))), (2, hex(zeroblob(2000000))),"
                "(3, hex(zeroblob(2000000))), (4, hex(zeroblob(2000000)))");
  run([&](engine& in) -> task<void> {
    const auto batch = [](engine& of) -> task<std::size_t> {
      keeping_sink found;
      const auto read = co_await weigh(of, {1, 2, 3, 4}, found);
      if (!read) EXPECT_EQ(read.error(), errc::exhausted);
      co_return found.rows;
    };
    std::vector<task<std::size_t>> batches;
    for (int i = 0; i < 8; ++i) batches.push_back(batch(in));
    const std::vector<std::size_t> rows = co_await when_all(std::move(batches));
    EXPECT_TRUE(std::ranges::contains(rows, 4U));
  });
}

/// What a scan has come to: the rows' keys, and what was reserved for long ones. From the row on
/// that has that number long ones are not taken.
class weighing_scan final : public scan_sink {
 public:
  explicit weighing_scan(std::size_t takes = SIZE_MAX) noexcept : takes_{takes} {}
  void row(std::span<const value> values) override {
    ids += std::to_string(values[0].as_integer()) + " ";
    ++rows;
  }
  bool long_row(std::span<const value> values, memory_reservation memory) override {
    is_full_ = rows == takes_;
    if (is_full_) return false;
    reserved.push_back(memory.bytes());
    row(values);
    return true;
  }
  void failed(const failure& why) override { failures.push_back(why.kind); }
  [[nodiscard]] bool is_full() const override { return is_full_; }

  std::string ids;
  std::vector<std::size_t> reserved;
  std::vector<failure_kind> failures;
  std::size_t rows = 0;

 private:
  std::size_t takes_;
  bool is_full_ = false;
};

class scanned_long_row : public long_row {
 protected:
  static task<result<std::string>> scan(engine& in, weighing_scan& to, std::string_view from = {}) {
    static constexpr column_position columns[] = {0, 1};
    const catalog_ref schema = in.schema();
    const scan_request request{
        .from = schema->find("d", "t"), .columns = columns, .limit = 100, .continuation = from};
    co_return co_await in.scan(request, to);
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, scanned_long_row,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(scanned_long_row, is_reserved_before_it_is_copied) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, 'short'), (2, hex(zeroblob(4000000))), (3, 'short'),"
                "(4, hex(zeroblob(50000))), (5, hex(zeroblob(5000000)))");
  run([&](engine& in) -> task<void> {
    weighing_scan found;
    EXPECT_EQ((co_await scan(in, found)).value_or("?"), "");
    EXPECT_EQ(found.ids, "1 2 3 4 5 ");
    EXPECT_TRUE(found.failures.empty());
    EXPECT_EQ(found.reserved.size(), 3U);
    if (found.reserved.size() != 3) co_return;
    EXPECT_GE(found.reserved.front(), told_bytes(8'000'000, 2));
    EXPECT_GE(found.reserved.back(), told_bytes(10'000'000, 2));
  });
}

TEST_P(scanned_long_row, that_its_sink_does_not_take_is_the_first_of_the_next_scan) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<30)"
                "INSERT INTO t SELECT x, hex(zeroblob(CASE x%3 WHEN 0 THEN 400000 ELSE 40000 END))"
                " FROM c");
  run([&](engine& in) -> task<void> {
    std::string ids;
    std::string rest;
    for (std::size_t calls = 0; calls < 100; ++calls) {
      weighing_scan found{1 + calls % 4};
      auto next = co_await scan(in, found, rest);
      EXPECT_TRUE(next);
      EXPECT_LE(found.rows, 1 + calls % 4);
      ids += found.ids;
      rest = next ? std::move(*next) : std::string{};
      if (rest.empty()) break;
    }
    std::string all;
    for (int i = 1; i <= 30; ++i) all += std::to_string(i) + " ";
    EXPECT_EQ(ids, all);
  });
}

TEST_P(scanned_long_row, for_which_there_never_is_memory_ends_the_scan) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, 'short'), (2, hex(zeroblob(12000000))), (3, 'short')");
  run([&](engine& in) -> task<void> {
    weighing_scan found;
    EXPECT_TRUE(co_await scan(in, found));
    EXPECT_EQ(found.ids, "1 ");
    EXPECT_EQ(found.failures, std::vector{failure_kind::too_large});
  });
}

TEST_P(scanned_long_row, waits_for_memory_a_second_and_no_longer) {
  make_database("d",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
                "INSERT INTO t VALUES(1, 'short'), (2, hex(zeroblob(2000000))), (3, 'short')");
  run([&](engine& in) -> task<void> {
    memory_reservation others = loop_->memory().hold(memory_kind::output, 44 * mebibyte);
    weighing_scan first;
    const auto rest = co_await scan(in, first);
    EXPECT_TRUE(rest) << "it has come to some rows";
    EXPECT_EQ(first.ids, "1 ");
    weighing_scan second;
    const auto none = co_await scan(in, second, rest.value_or(""));
    EXPECT_FALSE(none);
    if (!none) EXPECT_EQ(none.error(), errc::exhausted);
    others.reset();
    EXPECT_EQ((co_await scan(in, second, rest.value_or(""))).value_or("?"), "");
    EXPECT_EQ(second.ids, "2 3 ");
  });
}

/// SQLite reads the schema anew where another program has changed it.
TEST_P(long_row, does_not_keep_a_long_schema_from_being_read) {
  std::string columns;
  for (int i = 0; i < 1'500; ++i)
    columns += ",column_with_a_name_of_some_length_and_a_number_" + std::to_string(i) + " TEXT";
  make_database(
      "d", "CREATE TABLE t(id INTEGER PRIMARY KEY" + columns + "); INSERT INTO t(id) VALUES(1)");
  run([&](engine& in) -> task<void> {
    weighing_sink found;
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    run_sql("d", "CREATE TABLE other(id INTEGER PRIMARY KEY)");
    co_await next_turn();
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    EXPECT_TRUE(co_await weigh(in, {1}, found));
    EXPECT_EQ(found.rows, std::vector<std::size_t>(3, 0));
    EXPECT_TRUE(found.failures.empty());
  });
}

}  // namespace
}  // namespace weft::store::sqlite
