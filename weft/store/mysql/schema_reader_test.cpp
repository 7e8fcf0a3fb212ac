#include <weft/store/mysql/schema_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

/// What there is in the database `schema_test`, which lives while the test does.
class mysql_schema_test : public mysql_fixture {
 protected:
  template <class Body>
  void with_tables(const std::vector<std::string_view>& statements, Body body) {
    run([&](connection& server) -> task<void> {
      EXPECT_TRUE(co_await server.run("CREATE OR REPLACE DATABASE schema_test"));
      EXPECT_TRUE(co_await server.run("USE schema_test"));
      for (const std::string_view each : statements)
        EXPECT_TRUE(co_await server.run(each)) << server.last_failure().message;
      auto found = co_await read_schema(server, {});
      EXPECT_TRUE(found) << server.last_failure().message;
      if (found) body(catalog{std::move(*found)});
      EXPECT_TRUE(co_await server.run("DROP DATABASE schema_test"));
    });
  }
  static std::string names_of(const table& of, std::span<const column_position> columns) {
    std::string names;
    for (const column_position at : columns)
      names += (names.empty() ? "" : ",") + of.columns()[at].name;
    return names;
  }
};

INSTANTIATE_TEST_SUITE_P(on, mysql_schema_test, ::testing::Values(backend_kind::epoll),
                         backend_name);

TEST_P(mysql_schema_test, tells_columns_by_their_types) {
  struct type_case {
    const char* sql;
    column expected;  // but its name
  };
  const std::vector<type_case> cases{
      {"TINYINT", {.name = "", .type = column_type::tiny_int}},
      {"BOOLEAN", {.name = "", .type = column_type::tiny_int}},
      {"SMALLINT UNSIGNED", {.name = "", .type = column_type::small_int, .is_unsigned = true}},
      {"MEDIUMINT", {.name = "", .type = column_type::medium_int}},
      {"INT(6) ZEROFILL", {.name = "", .type = column_type::integer, .is_unsigned = true}},
      {"BIGINT UNSIGNED", {.name = "", .type = column_type::big_int, .is_unsigned = true}},
      {"FLOAT", {.name = "", .type = column_type::float32}},
      {"DOUBLE", {.name = "", .type = column_type::float64}},
      {"DECIMAL(65,30)", {.name = "", .type = column_type::decimal, .precision = 65, .scale = 30}},
      {"NUMERIC", {.name = "", .type = column_type::decimal, .precision = 10, .scale = 0}},
      {"CHAR(5)", {.name = "", .type = column_type::character, .length = 5}},
      {"VARCHAR(300) CHARACTER SET utf8mb4",
       {.name = "", .type = column_type::varchar, .length = 300}},
      {"TINYTEXT", {.name = "", .type = column_type::text}},
      {"LONGTEXT", {.name = "", .type = column_type::text}},
      {"JSON", {.name = "", .type = column_type::text}},
      {"ENUM('a','b unsigned')", {.name = "", .type = column_type::text, .is_enumerated = true}},
      {"SET('a','b')", {.name = "", .type = column_type::text, .is_enumerated = true}},
      {"ENUM('2','it''s',' -7','\\\\1','1','12a')",
       {.name = "",
        .type = column_type::text,
        .is_enumerated = true,
        .numeric_values = {"2", " -7", "1"}}},
      {"UUID", {.name = "", .type = column_type::varchar}},
      {"INET6", {.name = "", .type = column_type::varchar}},
      {"BINARY(16)", {.name = "", .type = column_type::binary, .length = 16}},
      {"VARBINARY(17)", {.name = "", .type = column_type::varbinary, .length = 17}},
      {"MEDIUMBLOB", {.name = "", .type = column_type::blob}},
      {"POINT", {.name = "", .type = column_type::blob}},
      {"BIT(12)", {.name = "", .type = column_type::bit, .length = 12}},
      {"DATE", {.name = "", .type = column_type::date}},
      {"TIME(6)", {.name = "", .type = column_type::time, .fraction_digits = 6}},
      {"DATETIME(3)", {.name = "", .type = column_type::date_time, .fraction_digits = 3}},
      {"TIMESTAMP NULL", {.name = "", .type = column_type::timestamp}},
      {"YEAR", {.name = "", .type = column_type::year}},
  };
  std::string sql = "CREATE TABLE typed(id INT PRIMARY KEY";
  for (std::size_t i = 0; i < cases.size(); ++i)
    sql += ", c" + std::to_string(i) + " " + cases[i].sql;
  sql += ")";
  with_tables({sql}, [&](const catalog& found) {
    const table* const typed = found.find("schema_test", "typed");
    ASSERT_NE(typed, nullptr);
    ASSERT_EQ(typed->columns().size(), cases.size() + 1);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].sql);
      const column& is = typed->columns()[i + 1];
      column expected = cases[i].expected;
      expected.name = "c" + std::to_string(i);
      expected.charset = is.charset;  // of the server's default
      EXPECT_EQ(is, expected) << to_string(is.type) << ' ' << is.length << ' ' << int{is.precision}
                              << ' ' << int{is.scale} << ' ' << int{is.fraction_digits} << ' '
                              << is.has_default;
    }
  });
}

TEST_P(mysql_schema_test, tells_the_charsets_of_texts) {
  with_tables({"CREATE TABLE t(a INT, b VARCHAR(9) CHARACTER SET latin1, c VARBINARY(9), "
               "d ENUM('x') CHARACTER SET cp1251, e UUID) CHARACTER SET utf8mb4"},
              [](const catalog& found) {
                std::string told;
                for (const column& each : found.find("schema_test", "t")->columns())
                  told += each.charset + ",";
                EXPECT_EQ(told, ",latin1,,cp1251,,");
              });
}

TEST_P(mysql_schema_test, tells_what_may_be_left_out) {
  with_tables(
      {"CREATE TABLE t(id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, b INT NOT NULL "
       "DEFAULT 0, c VARCHAR(9) NOT NULL DEFAULT '', d INT, e INT DEFAULT 5, "
       "f INT AS (a + 1) STORED, g TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)"},
      [](const catalog& found) {
        const table* const t = found.find("schema_test", "t");
        ASSERT_NE(t, nullptr);
        std::string told;
        for (const column& each : t->columns()) {
          told += each.name;
          if (each.is_nullable) told += '?';
          if (each.has_default) told += '=';
          if (each.is_generated) told += '!';
        }
        EXPECT_EQ(told, "id=ab=c=d?e?=f?!g=");
      });
}

TEST_P(mysql_schema_test, tells_keys_and_indexes_in_their_order) {
  with_tables(
      {"CREATE TABLE t(a INT, b INT, c VARCHAR(50), d TEXT, e POINT NOT NULL, PRIMARY KEY(b, a), "
       "UNIQUE KEY by_c(c), KEY by_c_a(c, a), UNIQUE KEY part(a, d(10), c), KEY only_part(d(5)), "
       "FULLTEXT KEY words(d), SPATIAL KEY places(e))",
       "CREATE TABLE by_beginning(a VARCHAR(99), b INT, PRIMARY KEY(b, a(10)))",
       "CREATE TABLE heap(a INT)"},
      [](const catalog& found) {
        const table* const t = found.find("schema_test", "t");
        ASSERT_NE(t, nullptr);
        EXPECT_EQ(names_of(*t, t->key()), "b,a");
        std::string told;
        for (const secondary_index& each : t->indexes())
          told += each.name + (each.is_unique ? "!(" : "(") + names_of(*t, each.columns) + ")";
        EXPECT_EQ(told, "by_c!(c)by_c_a(c,a)part(a)");
        EXPECT_TRUE(found.find("schema_test", "by_beginning")->key().empty());
        EXPECT_TRUE(found.find("schema_test", "heap")->key().empty());
      });
}

TEST_P(mysql_schema_test, leaves_out_indexes_that_the_server_does_not_use) {
  with_tables(
      {"CREATE TABLE t(id INT PRIMARY KEY, a INT, b INT, KEY by_a(a) IGNORED, KEY by_b(b))"},
      [](const catalog& found) {
        const table* const t = found.find("schema_test", "t");
        ASSERT_NE(t, nullptr);
        ASSERT_EQ(t->indexes().size(), 1U);
        EXPECT_EQ(t->indexes().front().name, "by_b");
      });
}

TEST_P(mysql_schema_test, reads_no_more_than_the_databases_that_are_asked_for) {
  run([&](connection& server) -> task<void> {
    constexpr int tables = 20;
    for (const std::string name : {"schema_test", "schema_TEST"}) {
      EXPECT_TRUE(co_await server.run("CREATE OR REPLACE DATABASE " + name));
      EXPECT_TRUE(co_await server.run("USE " + name));
      for (int i = 0; i < tables; ++i)
        EXPECT_TRUE(co_await server.run("CREATE TABLE t" + std::to_string(i) +
                                        "(a INT PRIMARY KEY, b INT, c INT, KEY by_c(c)) "
                                        "ENGINE=MyISAM"));
    }
    EXPECT_TRUE(co_await server.run("CREATE TABLE schema_TEST.more(a INT PRIMARY KEY)"));
    const std::vector<std::string> asked{"schema_test", "schema_TEST", "nowhere"};
    for (const std::size_t databases : {3U, 1U}) {
      EXPECT_TRUE(co_await server.run("FLUSH STATUS"));
      auto read = co_await read_schema(server, std::span{asked}.first(databases));
      EXPECT_TRUE(read) << server.last_failure().message;
      if (!read) co_return;
      const std::string rows =
          co_await ask(server,
                       "SELECT CAST(variable_value AS SIGNED) FROM "
                       "information_schema.session_status WHERE variable_name = "
                       "'HANDLER_READ_RND_NEXT'");
      // Columns, tables and indexes, each a few times.
      EXPECT_LT(std::stoi(rows), 4 * tables * 6 * static_cast<int>(databases)) << rows;
      const catalog found{std::move(*read)};
      EXPECT_EQ(found.tables().size(), databases == 1 ? tables : 2 * tables + 1);
      EXPECT_TRUE(found.has("schema_TEST")) << "which is there, though its tables are not";
      const table* const first = found.find("schema_test", "t0");
      EXPECT_NE(first, nullptr);
      if (first == nullptr) co_return;
      EXPECT_EQ(first->columns().size(), 3U);
      EXPECT_EQ(first->indexes().size(), 1U);
      EXPECT_EQ(first->definition().storage_engine, "MyISAM");
      EXPECT_FALSE(first->definition().has_transactions);
    }
    for (const std::string name : {"schema_test", "schema_TEST"})
      EXPECT_TRUE(co_await server.run("DROP DATABASE " + name));
  });
}

TEST_P(mysql_schema_test, has_tables_by_their_exact_names_and_nothing_else) {
  with_tables({"CREATE TABLE a(id INT PRIMARY KEY, x INT)", "CREATE TABLE A(id INT PRIMARY KEY)",
               "CREATE TABLE `ein Übermaß`(`größe` INT PRIMARY KEY)",
               "CREATE VIEW seen AS SELECT id FROM a"},
              [](const catalog& found) {
                EXPECT_EQ(found.find("schema_test", "a")->columns().size(), 2U);
                EXPECT_EQ(found.find("schema_test", "A")->columns().size(), 1U);
                EXPECT_EQ(found.find("schema_test", "seen"), nullptr);
                const table* const odd = found.find("schema_test", "ein Übermaß");
                ASSERT_NE(odd, nullptr);
                EXPECT_TRUE(odd->find("größe"));
                EXPECT_TRUE(found.has("shop")) << "though it has no tables";
                for (const char* const own : {"mysql", "information_schema", "sys"})
                  EXPECT_FALSE(found.has(own)) << own;
              });
}

}  // namespace
}  // namespace weft::store::mysql
