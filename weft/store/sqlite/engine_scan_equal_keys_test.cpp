// Rows whose keys are NULL or equal: a scan finds each once, as SQLite itself has them, in pages of
// any size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/random.hpp>
#include <weft/store/scan.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/scan_sql.hpp>

namespace weft::store::sqlite {
namespace {

using numbers = std::vector<std::int64_t>;

/// The first of the columns wanted, which has numbers.
struct numbers_sink final : scan_sink {
  void row(std::span<const value> values) override { found.push_back(values[0].as_integer()); }
  void failed(const failure& why) override { message = why.message; }
  numbers found;
  std::string message;
};

struct scan_order {
  std::optional<std::size_t> index = std::nullopt;
  bool is_descending = false;
};

class engine_scan_equal_keys : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    ASSERT_EQ(sqlite3_open(path_of("shop").c_str(), &other_), SQLITE_OK);
    change("PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL");
  }
  void TearDown() override {
    sqlite3_close(other_);
    engine_fixture::TearDown();
  }

  void change(const std::string& sql) const {
    char* why = nullptr;
    EXPECT_EQ(sqlite3_exec(other_, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK)
        << (why != nullptr ? why : "") << ": " << sql;
    sqlite3_free(why);
  }

  [[nodiscard]] numbers ask(const std::string& sql) const {
    sqlite3_stmt* query = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(other_, sql.c_str(), -1, &query, nullptr), SQLITE_OK) << sql;
    numbers found;
    while (sqlite3_step(query) == SQLITE_ROW) found.push_back(sqlite3_column_int64(query, 0));
    sqlite3_finalize(query);
    return found;
  }

  struct page {
    numbers found;
    std::string next;
    std::string message;  // it failed
  };
  /// `v` of shop.t's rows.
  static task<page> scan_page(engine& shop, scan_order order, std::size_t limit,
                              std::string_view from) {
    const catalog_ref schema = shop.schema();
    const table& t = *schema->find("shop", "t");
    const column_position v = t.find("v").value();
    const scan_request request{.from = &t,
                               .columns = {&v, 1},
                               .index = order.index,
                               .is_descending = order.is_descending,
                               .limit = limit,
                               .continuation = from};
    numbers_sink sink;
    const auto next = co_await shop.scan(request, sink);
    co_return page{std::move(sink.found), next.value_or(""),
                   next ? sink.message : next.error().message()};
  }

  template <class Between>
  static task<numbers> scan_all(engine& shop, scan_order order, std::size_t limit,
                                Between between) {
    numbers all;
    std::string from;
    do {
      const page one = co_await scan_page(shop, order, limit, from);
      EXPECT_EQ(one.message, "");
      EXPECT_LE(one.found.size(), limit);
      all.insert(all.end(), one.found.begin(), one.found.end());
      from = one.next;
      between();
    } while (!from.empty() && all.size() < 100'000);
    co_return all;
  }
  static task<numbers> scan_all(engine& shop, scan_order order, std::size_t limit) {
    co_return co_await scan_all(shop, order, limit, [] {});
  }

  sqlite3* other_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(sqlite, engine_scan_equal_keys,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(engine_scan_equal_keys, finds_all_whose_keys_are_null) {
  change(
      "CREATE TABLE t(id TEXT PRIMARY KEY, v INT); CREATE INDEX by_v ON t(v % 2); "
      "CREATE INDEX by_id ON t(id, v);"
      "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<1000) "
      "SELECT NULL,x FROM c; INSERT INTO t VALUES('b',1001),('a',1002)");
  run([&](engine& shop) -> task<void> {
    for (const bool is_descending : {false, true}) {
      const numbers expected = ask(is_descending ? "SELECT v FROM t ORDER BY id DESC, rowid DESC"
                                                 : "SELECT v FROM t ORDER BY id, rowid");
      EXPECT_EQ(expected.size(), 1002U);
      for (const std::size_t limit : {1U, 7U, 255U, 256U, 257U, 600U, 1002U, 5000U}) {
        const numbers found = co_await scan_all(shop, {.is_descending = is_descending}, limit);
        EXPECT_EQ(found, expected) << "pages of " << limit;
      }
    }
    const numbers by_index = co_await scan_all(shop, {.index = 0}, 300);
    EXPECT_EQ(by_index, ask("SELECT v FROM t ORDER BY id, v, rowid"));
  });
}

/// A table, and how SQLite orders its rows where a scan goes by its key or by its index.
struct table_shape {
  std::string_view columns;
  std::string_view key;
  std::string_view last;  // what tells the rows apart
};
constexpr table_shape shapes[] = {
    {"a TEXT PRIMARY KEY, b INT, v INT", "a", "rowid"},
    {"a INT PRIMARY KEY, b TEXT, v INT", "a", "rowid"},
    {"a INTEGER PRIMARY KEY DESC, b TEXT, v INT", "a", "rowid"},
    {"a INTEGER PRIMARY KEY, b TEXT, v INT", "a", "rowid"},
    {"a PRIMARY KEY, b, v INT", "a", "rowid"},
    {"a DECIMAL(30,2) PRIMARY KEY, b BLOB, v INT", "a", "rowid"},
    {"a BIGINT UNSIGNED, b TEXT, v INT, PRIMARY KEY(b,a)", "b,a", "rowid"},
    {"a TEXT, b TEXT NOT NULL, v INT, PRIMARY KEY(a DESC,b)", "a,b", "rowid"},
    {"a TEXT COLLATE NOCASE, b INT, v INT, PRIMARY KEY(a COLLATE BINARY,b)", "a,b", "rowid"},
    {"a TEXT COLLATE NOCASE, b INT, rowid INT, oid INT, v INT, PRIMARY KEY(a COLLATE BINARY,b)",
     "a,b", "_rowid_"},
};
constexpr table_shape shapes_without_rowid[] = {
    {"a TEXT COLLATE NOCASE, b INT, v INT, PRIMARY KEY(a COLLATE BINARY,b)", "a,b",
     "a COLLATE BINARY"},
    {"a, b TEXT, v INT, PRIMARY KEY(b,a)", "b,a", "a"},
};

/// NULL, numbers, texts and bytes, many of them equal to others.
std::string drawn_value(random& draw) {
  switch (draw.below(8)) {
    case 0:
    case 1: return "NULL";
    case 2: return std::to_string(draw.below(3));
    case 3: return std::to_string(draw.below(3)) + ".5";
    case 4: return draw.below(2) == 0 ? "'a'" : "'A'";
    case 5: return "'b" + std::to_string(draw.below(3)) + "'";
    case 6: return "x'0" + std::to_string(draw.below(3)) + "'";
    default: return "12345678901234567890." + std::to_string(draw.below(2));
  }
}

TEST_P(engine_scan_equal_keys, finds_what_sqlite_finds_in_any_table) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    random draw{seed};
    const bool has_row_numbers = draw.below(5) != 0;
    const table_shape shape = has_row_numbers ? shapes[draw.below(std::size(shapes))]
                                              : shapes_without_rowid[draw.below(2)];
    std::string sql = "DROP TABLE IF EXISTS t; CREATE TABLE t(";
    sql.append(shape.columns).append(has_row_numbers ? ");" : ") WITHOUT ROWID;");
    constexpr std::string_view index_columns[] = {"b", "b,a", "v", "b DESC"};
    const std::string_view index = index_columns[draw.below(4)];
    sql.append("CREATE INDEX by_it ON t(").append(index).append(");BEGIN;");
    const std::uint64_t rows = draw.below(300);
    for (std::uint64_t v = 0; v < rows; ++v)
      sql += "INSERT OR IGNORE INTO t(a,b,v) VALUES(" + drawn_value(draw) + "," +
             drawn_value(draw) + "," + std::to_string(v) + ");";
    // Keys that are numbers of rows cannot be anything else.
    if (shape.columns.starts_with("a INTEGER PRIMARY KEY,"))
      for (std::size_t at = 0; (at = sql.find("VALUES(", at)) != sql.npos; at += 7)
        sql.replace(at + 7, sql.find(',', at) - at - 7, "NULL");
    change(sql + "COMMIT");
    SCOPED_TRACE(std::string{"seed "} + std::to_string(seed) + ": " + std::string{shape.columns});
    run([&](engine& shop) -> task<void> {
      for (const bool by_index : {false, true})
        for (const bool is_descending : {false, true}) {
          std::string columns = by_index ? std::string{index} + "," : "";
          if (const auto at = columns.find(" DESC"); at != columns.npos) columns.erase(at, 5);
          columns.append(shape.key).append(",").append(shape.last);
          if (is_descending)
            for (std::size_t at = 0; (at = columns.find(',', at)) != columns.npos; at += 6)
              columns.insert(at, " DESC");
          const numbers expected =
              ask("SELECT v FROM t ORDER BY " + columns + (is_descending ? " DESC" : ""));
          scan_order order{.is_descending = is_descending};
          if (by_index) order.index = 0;
          for (const std::size_t limit : {std::size_t{1}, 1 + draw.below(20), std::size_t{1000}}) {
            const numbers found = co_await scan_all(shop, order, limit);
            EXPECT_EQ(found, expected) << "pages of " << limit << " by " << columns;
          }
        }
    });
    if (HasFailure()) return;
  }
}

TEST_P(engine_scan_equal_keys, finds_what_is_there_throughout_while_others_come_and_go) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random draw{seed};
    change(
        "DROP TABLE IF EXISTS t; CREATE TABLE t(id TEXT PRIMARY KEY, n INT, v INT);"
        "CREATE INDEX by_n ON t(n)");
    std::string sql = "BEGIN;";
    for (int v = 0; v < 200; ++v)
      sql += "INSERT OR IGNORE INTO t VALUES(" + drawn_value(draw) + "," +
             std::to_string(draw.below(4)) + "," + std::to_string(v) + ");";
    change(sql + "COMMIT");
    run([&](engine& shop) -> task<void> {
      for (const bool is_descending : {false, true})
        for (const bool by_index : {false, true}) {
          scan_order order{.is_descending = is_descending};
          if (by_index) order.index = 0;
          const auto come_and_go = [&] {
            change("DELETE FROM t WHERE v=" + std::to_string(draw.below(200)) +
                   "; INSERT OR IGNORE INTO t VALUES(" + drawn_value(draw) + "," +
                   std::to_string(draw.below(4)) + ",1000)");
            if (draw.below(10) == 0) change("VACUUM");
          };
          numbers before = ask("SELECT v FROM t WHERE v<200 ORDER BY v");
          numbers found = co_await scan_all(shop, order, 1 + draw.below(9), come_and_go);
          const numbers after = ask("SELECT v FROM t WHERE v<200 ORDER BY v");
          std::erase(found, 1000);
          std::ranges::sort(found);
          EXPECT_EQ(std::ranges::adjacent_find(found), found.end()) << "none comes twice";
          EXPECT_TRUE(std::ranges::includes(found, after)) << "none is left out";
          EXPECT_TRUE(std::ranges::includes(before, found));
        }
    });
    if (HasFailure()) return;
  }
}

TEST_P(engine_scan_equal_keys, are_refused_where_nothing_tells_them_apart) {
  change(
      "CREATE TABLE t(id TEXT PRIMARY KEY, rowid INT, _rowid_ INT, oid INT, v INT);"
      "INSERT INTO t(v) VALUES(1),(2)");
  run([&](engine& shop) -> task<void> {
    const page one = co_await scan_page(shop, {}, 10, {});
    EXPECT_TRUE(one.message.contains("declare the key NOT NULL")) << one.message;
    EXPECT_TRUE(one.found.empty());
  });
  change(
      "DROP TABLE t; CREATE TABLE t(id TEXT NOT NULL PRIMARY KEY, rowid INT, _rowid_ INT, "
      "oid INT, v INT); INSERT INTO t(id,v) VALUES('a',1),('b',2)");
  run([&](engine& shop) -> task<void> {
    const numbers found = co_await scan_all(shop, {}, 1);
    EXPECT_EQ(found, (numbers{1, 2}));
  });
}

/// Whose place was of another order: it has no number of a row, or values as they are read.
TEST_P(engine_scan_equal_keys, refuse_a_place_of_another_order) {
  change(
      "CREATE TABLE t(id TEXT NOT NULL PRIMARY KEY, v INT); INSERT INTO t VALUES('a',1),('b',2)");
  std::string token;
  run([&](engine& shop) -> task<void> { token = (co_await scan_page(shop, {}, 1, {})).next; });
  change("DROP TABLE t; CREATE TABLE t(id TEXT PRIMARY KEY, v INT); INSERT INTO t VALUES('a',1)");
  run([&](engine& shop) -> task<void> {
    const page one = co_await scan_page(shop, {}, 1, token);
    EXPECT_EQ(one.message, "invalid argument");
  });
}

/// The part of a scan after a row takes as long wherever that row is among those that are equal to
/// it by the index.
TEST_P(engine_scan_equal_keys, cost_no_more_than_others) {
  change(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, v INT); CREATE INDEX by_n ON t(n);"
      "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<20000) "
      "SELECT x,nullif(x%2,0),x FROM c");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const table& t = *schema->find("shop", "t");
    for (const bool is_descending : {false, true})
      for (const value n : {value{}, value::integer(1)}) {
        const scan_request request{
            .from = &t, .columns = {}, .index = 0, .is_descending = is_descending, .limit = 10};
        const value place[] = {n, value::integer(10'000)};
        int steps = 0;
        for (const scan_step step : steps_behind(request, place)) {
          const scan_sql sql{request, place, {.step = step}};
          sqlite3_stmt* select = nullptr;
          sqlite3_prepare_v2(other_, sql.text().c_str(), -1, &select, nullptr);
          EXPECT_EQ(sql.bind(select, 10), SQLITE_OK) << sql.text();
          while (sqlite3_step(select) == SQLITE_ROW) {}
          steps += sqlite3_stmt_status(select, SQLITE_STMTSTATUS_VM_STEP, 0);
          sqlite3_finalize(select);
        }
        EXPECT_LT(steps, 1000);
      }
    co_return;
  });
}

}  // namespace
}  // namespace weft::store::sqlite
