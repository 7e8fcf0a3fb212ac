// Schemas that need what this program's SQLite does not have, or that name what is not there: what
// of the table can be had is had, and of the rest the cause is told, once.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/failure.hpp>
#include <weft/store/sqlite/cold_batch.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

/// Each has a row whose key is 1.
constexpr const char* schema =
    "CREATE TABLE plain(id INTEGER PRIMARY KEY, v TEXT);"
    "CREATE TABLE key_collation(id TEXT COLLATE klingon PRIMARY KEY, v TEXT);"
    "CREATE TABLE index_collation(id INTEGER PRIMARY KEY, v TEXT COLLATE klingon);"
    "CREATE INDEX by_collation ON index_collation(v);"
    "CREATE TABLE generated(id INTEGER PRIMARY KEY, v TEXT, g TEXT AS (mystery(v)));"
    "CREATE TABLE stored(id INTEGER PRIMARY KEY, v TEXT, g TEXT AS (mystery(v)) STORED);"
    "CREATE TABLE part_index(id INTEGER PRIMARY KEY, v TEXT);"
    "CREATE INDEX of_some ON part_index(v) WHERE mystery(v)='x';"
    "CREATE TABLE expression(id INTEGER PRIMARY KEY, v TEXT);"
    "CREATE INDEX by_expression ON expression(mystery(v));"
    "CREATE TABLE checked(id INTEGER PRIMARY KEY, v TEXT CHECK(mystery(v)<>'bad'));"
    "CREATE TABLE triggered(id INTEGER PRIMARY KEY, v TEXT);"
    "CREATE TRIGGER calls AFTER INSERT ON triggered BEGIN SELECT mystery(1); END;"
    "CREATE TABLE orphaned(id INTEGER PRIMARY KEY, v TEXT);"
    "CREATE TABLE gone(a INT);"
    "CREATE TRIGGER names AFTER INSERT ON orphaned BEGIN INSERT INTO gone VALUES(1); END;"
    "CREATE VIEW of_gone AS SELECT * FROM gone;"
    "INSERT INTO plain VALUES(1,'x'); INSERT INTO key_collation VALUES('1','x');"
    "INSERT INTO index_collation VALUES(1,'x'); INSERT INTO generated(id,v) VALUES(1,'x');"
    "INSERT INTO stored(id,v) VALUES(1,'x'); INSERT INTO part_index VALUES(1,'x');"
    "INSERT INTO expression VALUES(1,'x'); INSERT INTO checked VALUES(1,'x');"
    "INSERT INTO triggered VALUES(1,'x'); INSERT INTO orphaned VALUES(1,'x');"
    "DROP TABLE gone;"
    "PRAGMA writable_schema=ON;"
    "INSERT INTO sqlite_master VALUES('table','of_module','of_module',0,"
    "'CREATE VIRTUAL TABLE of_module USING no_module(x)');";

constexpr std::string_view row = R"(["x"])";
constexpr std::string_view no_collation = "no such collation sequence: klingon";
constexpr std::string_view no_function = "unknown function: mystery()";

/// What is to be had of a table: "" is all.
struct expectation {
  std::string_view table;
  std::string_view of_read{};      // of the column v
  std::string_view of_read_all{};  // of all columns
  std::string_view of_insert{};
  std::string_view of_update{};
  std::string_view of_remove{};
};
constexpr expectation expectations[] = {
    {"plain"},
    {"key_collation", no_collation, no_collation, no_collation, no_collation, no_collation},
    {"index_collation", "", "", no_collation, no_collation, no_collation},
    {"generated", "", no_function, no_function, no_function, ""},
    {"stored", "", "", no_function, no_function, ""},
    {"part_index", "", "", no_function, no_function, no_function},
    {"expression", "", "", no_function, no_function, no_function},
    {"checked", "", "", no_function, no_function, ""},
    {"triggered", "", "", "no such function: mystery", "", ""},
    {"orphaned", "", "", "no such table: main.gone", "", ""},
};

struct last_failure final : write_sink, scan_sink {
  void done(std::size_t) override {}
  void missing(std::size_t) override {}
  void row(std::span<const value>) override {}
  void failed(std::size_t, const failure& why) override { note(why); }
  void failed(const failure& why) override { note(why); }
  void note(const failure& why) {
    kind = why.kind;
    text += why.message;
    ++failures;
  }
  failure_kind kind = failure_kind::other;
  std::string text;
  int failures = 0;
};

class engine_unsupported : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.synchronous = durability::off;
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path_of("shop").c_str(), &other), SQLITE_OK);
    sqlite3_create_collation(other, "klingon", SQLITE_UTF8, nullptr,
                             [](void*, int, const void*, int, const void*) { return 0; });
    sqlite3_create_function(
        other, "mystery", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
        [](sqlite3_context* to, int, sqlite3_value** of) { sqlite3_result_value(to, of[0]); },
        nullptr, nullptr);
    char* why = nullptr;
    EXPECT_EQ(sqlite3_exec(other, schema, nullptr, nullptr, &why), SQLITE_OK) << why;
    sqlite3_close(other);
    run_sql("shop", "PRAGMA journal_mode=WAL");
  }

  static value key_of(const table& of) {
    return of.name() == "key_collation" ? value::text("1") : value::integer(1);
  }

  static void expect_told(const last_failure& told, std::string_view expected) {
    EXPECT_EQ(told.text.contains(expected), true) << told.text;
    EXPECT_EQ(told.failures, expected.empty() ? 0 : 1);
    if (expected.empty()) return;
    EXPECT_EQ(told.kind, failure_kind::unsupported) << to_string(told.kind);
    EXPECT_FALSE(told.text.contains("rescode")) << "what to do is said: " << told.text;
  }

  static task<void> expect_read(engine& shop, const table& from, std::string_view expected,
                                std::vector<column_position> columns) {
    const value key = key_of(from);
    const key_read operation{&from, {&key, 1}, columns};
    noting_sink sink{{&operation, 1}};
    EXPECT_TRUE(co_await shop.read({&operation, 1}, sink));
    if (expected.empty()) {
      EXPECT_TRUE(sink.text().starts_with(R"(["x")")) << sink.text();
    } else {
      EXPECT_TRUE(sink.text().contains(expected)) << sink.text();
      EXPECT_EQ(sink.last_kind, failure_kind::unsupported);
    }
    last_failure told;
    const scan_request request{.from = &from, .columns = columns, .limit = 10};
    EXPECT_TRUE(co_await shop.scan(request, told));
    expect_told(told, expected);
  }

  static task<void> expect_write(engine& shop, const table& to, write_kind kind,
                                 std::string_view expected) {
    const value key =
        kind == write_kind::insert && to.name() != "key_collation" ? value::integer(7) : key_of(to);
    const column_position v = to.find("v").value();
    const value note = value::text("y");
    const std::size_t set = kind == write_kind::remove ? 0 : 1;
    const key_write operation{kind, &to, {&key, 1}, {&v, set}, {&note, set}};
    last_failure told;
    EXPECT_TRUE(co_await shop.write({&operation, 1}, told));
    expect_told(told, expected);
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, engine_unsupported,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(engine_unsupported, says_what_is_missing_and_does_the_rest) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref tables = shop.schema();
    for (const expectation& each : expectations) {
      SCOPED_TRACE(std::string{each.table});
      const table* const found = tables->find("shop", each.table);
      if (found == nullptr) {
        ADD_FAILURE() << "the table is not served";
        continue;
      }
      const table& t = *found;
      co_await expect_read(shop, t, each.of_read, {t.find("v").value()});
      co_await expect_read(shop, t, each.of_read_all, {t.values().begin(), t.values().end()});
      co_await expect_write(shop, t, write_kind::insert, each.of_insert);
      co_await expect_write(shop, t, write_kind::update, each.of_update);
      co_await expect_write(shop, t, write_kind::remove, each.of_remove);
    }
    EXPECT_EQ(tables->find("shop", "of_module"), nullptr);
    EXPECT_EQ(tables->find("shop", "of_gone"), nullptr);
    EXPECT_EQ(counted("store_schema_changes_total"), 1) << "none was taken for a changed schema";
  });
}

TEST_P(engine_unsupported, says_so_where_it_reads_from_the_disk) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref tables = shop.schema();
    const table& t = *tables->find("shop", "generated");
    const value key = value::integer(1);
    const key_read operations[] = {{&t, {&key, 1}, t.values()}, {&t, {&key, 1}, t.values()}};
    auto files = storage::open(options_);
    const auto version = (**(*files)->reader("shop")).number("PRAGMA schema_version");
    cold_batch batch{**files,      "shop",     *version,
                     std::nullopt, operations, cold_batch::bytes_max_at_first};
    batch.run();
    noting_sink sink{operations};
    engine_counts counts{metrics_->shard(0)};
    memory_reservation memory;
    EXPECT_EQ(batch.tell(0, 0, sink, counts, memory), 2U);
    EXPECT_EQ(sink.last_kind, failure_kind::unsupported);
    EXPECT_TRUE(sink.text().contains(no_function)) << sink.text();
    co_return;
  });
}

/// A statement that was prepared for another schema fails so, too.
TEST_P(engine_unsupported, still_notices_a_changed_schema) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await look_up(shop, "shop", "plain", {value::integer(1)}), row);
    run_sql("shop",
            "DROP TABLE plain; CREATE TABLE plain(id INTEGER PRIMARY KEY, w TEXT);"
            "INSERT INTO plain VALUES(1,'new')");
    co_await next_turn();
    const catalog_ref old = shop.schema();
    EXPECT_TRUE((co_await look_up(shop, "shop", "plain", {value::integer(1)})).contains("changed"));
    EXPECT_EQ(co_await look_up(shop, "shop", "plain", {value::integer(1)}), R"(["new"])");
  });
}

}  // namespace
}  // namespace weft::store::sqlite
