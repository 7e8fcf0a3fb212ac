#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::store::sqlite {
namespace {

using engine_read = engine_fixture;
INSTANTIATE_TEST_SUITE_P(sqlite, engine_read,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

constexpr const char* orders =
    "CREATE TABLE orders(id INT PRIMARY KEY, price DECIMAL(10,2), note VARCHAR(20));"
    "INSERT INTO orders VALUES(1,'12.50','first'),(2,NULL,'sec\"ond'),(-3,7,NULL);";

TEST_P(engine_read, finds_rows_by_their_key) {
  make_database("shop", orders);
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}), R"([12.50,"first"])");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(2)}),
              R"([null,"sec\"ond"])");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(-3)}, {"note", "price"}),
              "[null,7.00]");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(4)}), "-");
    EXPECT_EQ(co_await look_up(shop, "shop", "none", {value::integer(4)}), "no table");
    EXPECT_EQ(co_await look_up(shop, "none", "orders", {value::integer(4)}), "no table");
  });
}

TEST_P(engine_read, knows_all_that_a_schema_says) {
  make_database(
      "shop",
      "CREATE TABLE wide(b VARBINARY(4), a INT UNSIGNED NOT NULL, c INT NOT NULL DEFAULT 7,"
      " d INT AS (c+1), PRIMARY KEY(a,b)) WITHOUT ROWID;"
      "CREATE UNIQUE INDEX by_c ON wide(c,a); CREATE INDEX by_sum ON wide(a+c);"
      "CREATE INDEX partial ON wide(c) WHERE c>1;"
      "CREATE TABLE numbered(id INTEGER PRIMARY KEY, \"odd \"\"name\" TEXT);"
      "CREATE VIEW seen AS SELECT 1; CREATE TABLE keyless(a INT);");
  run([&](engine& shop) -> task<void> {
    const table& wide = *shop.schema()->find("shop", "wide");
    EXPECT_EQ(wide.definition(),
              (table_definition{.database = "shop",
                                .name = "wide",
                                .columns = {{.name = "b",
                                             .type = column_type::varbinary,
                                             .is_nullable = false,
                                             .is_dynamic = true,
                                             .length = 4},
                                            {.name = "a",
                                             .type = column_type::integer,
                                             .is_unsigned = true,
                                             .is_nullable = false,
                                             .is_dynamic = true},
                                            {.name = "c",
                                             .type = column_type::integer,
                                             .is_nullable = false,
                                             .has_default = true,
                                             .is_dynamic = true},
                                            {.name = "d",
                                             .type = column_type::integer,
                                             .is_generated = true,
                                             .is_computed_when_read = true,
                                             .is_dynamic = true}},
                                .key = {1, 0},
                                .indexes = {{.name = "by_c", .columns = {2, 1}, .is_unique = true}},
                                .has_stored_places = true}));
    const table& numbered = *shop.schema()->find("shop", "numbered");
    EXPECT_TRUE(numbered.columns()[0].has_default);
    EXPECT_EQ(numbered.columns()[0].type, column_type::big_int);
    EXPECT_EQ(shop.schema()->find("shop", "seen"), nullptr);
    EXPECT_TRUE(shop.schema()->find("shop", "keyless")->key().empty());
    EXPECT_EQ(co_await look_up(shop, "shop", "numbered", {value::integer(1)}, {"odd \"name"}), "-");
  });
}

TEST_P(engine_read, gives_values_as_they_were_stored) {
  make_database(
      "types",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, big BIGINT UNSIGNED, exact DECIMAL(30,5), f FLOAT,"
      " bits BIT(12), bytes VARBINARY(9), day DATE, moment DATETIME(3), c CHAR(5), y YEAR);"
      "INSERT INTO t VALUES(1,x'ffffffffffffffff',CAST('1234567890123456789012345.12345' AS "
      "BLOB),0.1,"
      "4095,x'0001','2024-02-29','2024-02-29 10:00:00.5','ab   ',2024),"
      "(2,9223372036854775807,'1.5',1e300,NULL,x'','','',NULL,NULL);");
  run([&](engine& types) -> task<void> {
    EXPECT_EQ(co_await look_up(types, "types", "t", {value::integer(1)}),
              R"([18446744073709551615,1234567890123456789012345.12345,0.1,"D/8=","AAE=",)"
              R"("2024-02-29","\u0010text:2024-02-29 10:00:00.5","\u0010text:ab   ",2024])");
    EXPECT_EQ(co_await look_up(types, "types", "t", {value::integer(2)}, {"big", "exact", "bytes"}),
              R"([9223372036854775807,1.50000,""])");
  });
}

TEST_P(engine_read, finds_keys_of_every_type) {
  make_database(
      "keys",
      "CREATE TABLE n(k BIGINT UNSIGNED PRIMARY KEY, v INT); INSERT INTO n "
      "VALUES(x'8000000000000000',1),(5,2);"
      "CREATE TABLE d(k DECIMAL(10,2) PRIMARY KEY, v INT); INSERT INTO d VALUES('1.50',1),(2,2);"
      "CREATE TABLE e(k DECIMAL(30,2) PRIMARY KEY, v INT); INSERT INTO e VALUES('1.50',1),"
      "(CAST('12345678901234567890.12' AS BLOB),2);"
      "CREATE TABLE b(k BINARY(4) PRIMARY KEY, v INT); INSERT INTO b VALUES(x'01000000',1);"
      "CREATE TABLE s(k VARCHAR(9), l INT, v INT, PRIMARY KEY(k,l)); INSERT INTO s "
      "VALUES('',1,1),('a b',2,2);");
  run([&](engine& keys) -> task<void> {
    EXPECT_EQ(co_await look_up(keys, "keys", "n", {value::natural(std::uint64_t{1} << 63)}), "[1]");
    EXPECT_EQ(co_await look_up(keys, "keys", "n", {value::natural(5)}), "[2]");
    EXPECT_EQ(co_await look_up(keys, "keys", "d", {value::text("1.50")}), "[1]");
    EXPECT_EQ(co_await look_up(keys, "keys", "d", {value::text("2.00")}), "[2]");
    EXPECT_EQ(co_await look_up(keys, "keys", "e", {value::text("1.50")}), "[1]");
    EXPECT_EQ(co_await look_up(keys, "keys", "e", {value::text("12345678901234567890.12")}), "[2]");
    EXPECT_EQ(co_await look_up(keys, "keys", "b", {value::bytes({"\1\0\0\0", 4})}), "[1]");
    EXPECT_EQ(co_await look_up(keys, "keys", "s", {value::text({}), value::integer(1)}), "[1]");
    EXPECT_EQ(co_await look_up(keys, "keys", "s", {value::text("a b"), value::integer(2)}), "[2]");
  });
}

/// A key of 1 to 100 each; the rows' sum of their first column.
struct summing_sink final : read_sink {
  void row(std::size_t, std::span<const value> values) override { sum += values[0].as_integer(); }
  void missing(std::size_t) override { ++missed; }
  void failed(std::size_t, const failure& why) override { ADD_FAILURE() << why.message; }
  std::int64_t sum = 0;
  int missed = 0;
};

std::string many_rows(const char* table_name) {
  return std::string{"CREATE TABLE "} + table_name +
         "(id INT PRIMARY KEY, a INT, b VARCHAR(50)); INSERT INTO " + table_name +
         " WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<2000)"
         " SELECT x,x*2,'value '||x FROM c;";
}

TEST_P(engine_read, shares_one_transaction_in_a_turn_and_allocates_nothing) {
  make_database("shop", many_rows("t"));
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const table* const t = schema->find("shop", "t");
    std::vector<value> keys;
    for (int i = 1; i <= 100; ++i) keys.push_back(value::integer(i));
    const std::vector<column_position> columns{1, 2};
    std::vector<key_read> operations;
    for (const value& key : keys) operations.push_back({t, {&key, 1}, columns});
    summing_sink sink;
    EXPECT_TRUE(co_await shop.read(operations, sink));
    EXPECT_TRUE(co_await shop.read(operations, sink));
    EXPECT_EQ(counted("store_read_transactions_total"), 1);
    co_await next_turn();
    EXPECT_TRUE(co_await shop.read(operations, sink));
    EXPECT_EQ(counted("store_read_transactions_total"), 2);
    EXPECT_EQ(counted("store_reads_total", {{"by", "shard"}}), 300);
    EXPECT_EQ(counted("store_rows_read_total"), 300);
    EXPECT_EQ(counted("store_statements_prepared_total"), 1);
    EXPECT_EQ(sink.sum, 3 * 10100);
    if constexpr (WEFT_SANITIZED == 0) {
      const testing::allocation_counter since;
      const bool read = (co_await shop.read(operations, sink)).has_value();
      const std::uint64_t allocations = since.allocations();
      EXPECT_TRUE(read);
      EXPECT_EQ(allocations, 0U);
    }
  });
}

/// Has its turn be over after each row.
struct patient_sink final : read_sink {
  explicit patient_sink(event_loop& on) noexcept : loop{on} {}
  void row(std::size_t, std::span<const value>) override { turns.push_back(loop.turns()); }
  void missing(std::size_t) override {}
  void failed(std::size_t, const failure& why) override { ADD_FAILURE() << why.message; }
  bool is_turn_over() override { return true; }
  event_loop& loop;
  std::vector<std::uint64_t> turns;
};

TEST_P(engine_read, lets_others_have_their_turn_between_two_rows) {
  make_database("shop", many_rows("t"));
  run([&](engine& shop) -> task<void> {
    const table* const t = shop.schema()->find("shop", "t");
    std::vector<value> keys;
    for (int i = 1; i <= 20; ++i) keys.push_back(value::integer(i));
    const std::vector<column_position> columns{1, 2};
    std::vector<key_read> operations;
    for (const value& key : keys) operations.push_back({t, {&key, 1}, columns});
    patient_sink sink{*loop_};
    EXPECT_TRUE(co_await shop.read(operations, sink));
    EXPECT_EQ(sink.turns.size(), 20U);
    // A turn may take another thread's answer, with a row, before it runs what is ready.
    for (std::size_t i = 2; i < sink.turns.size(); ++i) EXPECT_GT(sink.turns[i], sink.turns[i - 2]);
  });
}

TEST_P(engine_read, keeps_so_many_statements) {
  make_database("shop", orders);
  options_.statements_max = 2;
  run([&](engine& shop) -> task<void> {
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"note"}),
                R"(["first"])");
      EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"price"}),
                "[12.50]");
      EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id"}), "[1]");
      EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id", "id"}),
                "[1,1]");
    }
  });
}

TEST_P(engine_read, notices_a_changed_schema_before_a_wrong_answer) {
  make_database("shop", orders);
  run([&](engine& shop) -> task<void> {
    const catalog_ref before = shop.schema();
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}), R"([12.50,"first"])");
    run_sql("shop", "CREATE TABLE other(a INT PRIMARY KEY)");
    co_await next_turn();
    // The table is what it was: nobody notices.
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}), R"([12.50,"first"])");
    EXPECT_NE(shop.schema().get(), before.get());
    EXPECT_NE(shop.schema()->find("shop", "other"), nullptr);
    run_sql("shop",
            "DROP TABLE orders; CREATE TABLE orders(id INT PRIMARY KEY, price DATE, note INT);"
            "INSERT INTO orders VALUES(1,'2024-01-01',5)");
    co_await next_turn();
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}),
              "!the table has changed since the request was made: make it again");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}), R"(["2024-01-01",5])");
  });
}

TEST_P(engine_read, notices_it_with_statements_made_after_the_change) {
  make_database("shop", orders);
  run([&](engine& shop) -> task<void> {
    run_sql("shop", "ALTER TABLE orders RENAME COLUMN note TO remark");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id"}),
              "!the table has changed since the request was made: make it again");
    run_sql("shop", "DROP TABLE orders");
    co_await next_turn();
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id"}),
              "!the table has changed since the request was made: make it again");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id"}), "no table");
  });
}

TEST_P(engine_read, follows_files_that_come_go_and_are_replaced) {
  make_database("shop", orders);
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id"}), "[1]");
    make_database("late", "CREATE TABLE t(a INT PRIMARY KEY); INSERT INTO t VALUES(1)");
    make_database("new", std::string{orders} + "UPDATE orders SET id=id+10");
    std::filesystem::rename(path_of("new"), path_of("shop"));
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_EQ(co_await look_up(shop, "late", "t", {value::integer(1)}, {"a"}), "[1]");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(11)}, {"id"}), "[11]");
    EXPECT_EQ(co_await look_up(shop, "shop", "orders", {value::integer(1)}, {"id"}), "-");
    std::filesystem::remove(path_of("shop"));
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_FALSE(shop.schema()->has("shop"));
    const auto catalogs = counted("store_schema_changes_total");
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_EQ(counted("store_schema_changes_total"), catalogs);
  });
}

TEST_P(engine_read, leaves_out_what_is_no_database) {
  make_database("shop", orders);
  std::ofstream{path_of("noise")} << std::string(5000, 'x');
  make_database("wide", "");
  run_sql("utf16", "PRAGMA encoding='UTF-16'; CREATE TABLE t(a INT PRIMARY KEY)");
  run([&](engine& shop) -> task<void> {
    EXPECT_TRUE(shop.schema()->has("shop"));
    EXPECT_TRUE(shop.schema()->has("wide"));
    EXPECT_FALSE(shop.schema()->has("noise"));
    EXPECT_FALSE(shop.schema()->has("utf16"));
    EXPECT_FALSE(shop.is_reachable());
    EXPECT_EQ(counted("store_databases_refused"), 2);
    const auto* const noise = shop.schema()->refused("noise");
    const auto* const utf16 = shop.schema()->refused("utf16");
    EXPECT_EQ(shop.schema()->refused("shop"), nullptr);
    EXPECT_EQ(shop.schema()->refused("none"), nullptr);
    if (noise == nullptr || utf16 == nullptr) co_return ADD_FAILURE();
    EXPECT_EQ(noise->why, failure_kind::corrupt);
    EXPECT_EQ(utf16->why, failure_kind::unsupported);
    EXPECT_TRUE(noise->message.starts_with("noise.db: file is not a database")) << noise->message;
    EXPECT_TRUE(utf16->message.starts_with("utf16.db: its texts are UTF-16")) << utf16->message;
    const std::int64_t catalogs = counted("store_schema_changes_total");
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_EQ(counted("store_schema_changes_total"), catalogs) << "nothing is new";
    std::filesystem::remove(path_of("noise"));
    std::filesystem::remove(path_of("utf16"));
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_TRUE(shop.is_reachable());
    EXPECT_EQ(shop.schema()->refused().size(), 0U);
  });
}

TEST_P(engine_read, leaves_out_what_is_no_regular_file_and_waits_for_none) {
  make_database("shop", orders);
  ASSERT_EQ(::mkfifo(path_of("pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(path_of("folder"));
  std::filesystem::create_symlink("/dev/zero", path_of("device"));
  std::filesystem::create_symlink(path_of("shop"), path_of("link"));
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    EXPECT_TRUE(schema->has("shop"));
    EXPECT_TRUE(schema->has("link"));
    EXPECT_FALSE(schema->has("pipe"));
    EXPECT_FALSE(schema->has("folder"));
    EXPECT_FALSE(schema->has("device"));
    co_return;
  });
}

TEST_P(engine_read, serves_a_file_by_one_name_alone) {
  make_database("shop", orders);
  std::filesystem::create_hard_link(path_of("shop"), path_of("twin"));
  run([&](engine& shop) -> task<void> {
    EXPECT_TRUE(shop.schema()->has("shop"));
    EXPECT_FALSE(shop.schema()->has("twin"));
    EXPECT_FALSE(shop.is_reachable());
    std::filesystem::remove(path_of("shop"));
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_FALSE(shop.schema()->has("shop"));
    EXPECT_TRUE(shop.schema()->has("twin"));
    EXPECT_TRUE(shop.is_reachable());
  });
}

TEST_P(engine_read, makes_the_databases_it_is_told_to) {
  options_.directory = folder_ + "/a/b";
  options_.create = {"one", "two"};
  run([&](engine& shop) -> task<void> {
    EXPECT_TRUE(shop.schema()->has("one"));
    EXPECT_TRUE(shop.schema()->has("two"));
    co_return;
  });
}

TEST_P(engine_read, says_when_there_is_no_folder) {
  options_.directory = folder_ + "/none";
  static constexpr std::string_view name = "store.sqlite.engine";
  lifetime own{name};
  engine tried{options_, *loop_, own, metrics_->shard(0)};
  result<void> started;
  const auto start = [&]() -> task<void> { started = co_await tried.start(); };
  loop_->spawn(start());
  loop_->run();
  EXPECT_EQ(started.error(), errc::not_found);
}

TEST_P(engine_read, fails_operations_of_a_damaged_file_and_reads_the_mended_one) {
  make_database("shop", many_rows("t") + "PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::copy_file(path_of("shop"), folder_ + "/copy");
  {
    std::fstream file{path_of("shop"), std::ios::in | std::ios::out | std::ios::binary};
    const auto size = std::filesystem::file_size(path_of("shop"));
    for (std::uintmax_t at = 3 * 4096; at < size; at += 4096) {
      file.seekp(static_cast<std::streamoff>(at));
      file << std::string(64, '\xff');
    }
  }
  run([&](engine& shop) -> task<void> {
    const std::string told = co_await look_up(shop, "shop", "t", {value::integer(1500)});
    EXPECT_TRUE(told.starts_with("!") && told.contains("restore it from a copy")) << told;
    EXPECT_TRUE(told.starts_with("!shop.db: ") && !told.contains(folder_)) << told;
    std::filesystem::rename(folder_ + "/copy", path_of("shop"));
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_EQ(co_await look_up(shop, "shop", "t", {value::integer(1500)}, {"a"}), "[3000]");
  });
}

}  // namespace
}  // namespace weft::store::sqlite
