#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/with_deadline.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_engine_read : public engine_fixture {};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_read, kernel_backends, backend_name);

constexpr std::string_view orders =
    "CREATE TABLE orders(id INT PRIMARY KEY, price DECIMAL(10,2), note VARCHAR(20))";
constexpr std::string_view three_orders =
    "INSERT INTO orders VALUES(1,12.5,'first'),(2,NULL,'sec\"ond'),(-3,7,NULL)";

TEST_P(mysql_engine_read, finds_rows_by_their_key_and_tells_them_in_order) {
  run_engine({orders, three_orders}, [&](engine& on) -> task<void> {
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), R"([12.50,"first"])");
    EXPECT_EQ(co_await look_up(on, "orders",
                               {{value::integer(2)},
                                {value::integer(4)},
                                {value::integer(-3)},
                                {value::integer(1)},
                                {value::integer(2)}},
                               {"note", "price"}),
              R"(["sec\"ond",null] - [null,7.00] ["first",12.50] ["sec\"ond",null])");
    EXPECT_EQ(co_await look_up(on, "orders", {}), "");
  });
  EXPECT_EQ(counted("store_reads_total", {{"by", "server"}}), 6);
  EXPECT_EQ(counted("store_rows_read_total"), 5);
}

TEST_P(mysql_engine_read, finds_rows_by_keys_of_several_columns_and_any_names) {
  run_engine({"CREATE TABLE `odd ``name`(`a\"b` INT, `select` VARBINARY(4), `größe` DATE, v INT, "
              "PRIMARY KEY(`größe`, `select`, `a\"b`))",
              "INSERT INTO `odd ``name` VALUES(1,'x','2024-02-29',10),(2,x'00ff','2024-02-29',20)"},
             [&](engine& on) -> task<void> {
               const value day = value::text("2024-02-29");
               const std::vector<value> first{day, value::bytes("x"), value::integer(1)};
               const std::vector<value> second{day, value::bytes({"\0\xff", 2}), value::integer(2)};
               const std::vector<value> third{day, value::bytes("x"), value::integer(2)};
               EXPECT_EQ(co_await look_up(on, "odd `name", {first, third, second}), "[10] - [20]");
             });
}

TEST_P(mysql_engine_read, a_hundred_rows_take_one_round_trip_once_their_statement_is_prepared) {
  run_engine(
      {"CREATE TABLE t(id BIGINT UNSIGNED PRIMARY KEY, v INT)",
       "INSERT INTO t SELECT seq, seq * 2 FROM seq_1_to_99",
       "INSERT INTO t VALUES(18446744073709551615, 7)",
       "CREATE TABLE names(k VARCHAR(20) PRIMARY KEY, v INT)",
       "INSERT INTO names SELECT CONCAT('k', seq), seq FROM seq_1_to_100"},
      [&](engine& on) -> task<void> {
        std::vector<std::vector<value>> numbers;
        std::vector<std::vector<value>> texts;
        std::vector<std::string> spelled;
        std::string doubles;
        std::string same;
        for (int i = 1; i <= 100; ++i) spelled.push_back("k" + std::to_string(i));
        for (int i = 1; i <= 100; ++i) {
          numbers.push_back({i == 100 ? value::natural(~std::uint64_t{0}) : value::integer(i)});
          texts.push_back({value::text(spelled[static_cast<std::size_t>(i) - 1])});
          doubles += "[" + std::to_string(i == 100 ? 7 : 2 * i) + "] ";
          same += "[" + std::to_string(i) + "] ";
        }
        doubles.pop_back();
        same.pop_back();
        for (const std::int64_t trips : {2, 1}) {
          std::int64_t before = counted("store_round_trips_total");
          const std::int64_t asked = co_await statements_of_server();
          const std::int64_t idle = co_await statements_of_server() - asked;
          EXPECT_EQ(co_await look_up(on, "t", numbers), doubles);
          EXPECT_EQ(counted("store_round_trips_total") - before, trips);
          const std::int64_t all = co_await statements_of_server();
          EXPECT_EQ(all - asked - 2 * idle, trips + 1) << "and the SELECT is counted, too";
          before = counted("store_round_trips_total");
          EXPECT_EQ(co_await look_up(on, "names", texts), same);
          EXPECT_EQ(counted("store_round_trips_total") - before, trips);
        }
      });
}

TEST_P(mysql_engine_read, texts_in_keys_are_the_same_where_the_server_says_so) {
  run_engine({"CREATE TABLE loose(k VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT)",
              "INSERT INTO loose VALUES('Straße',1),('abc',2),('x ',3)",
              "CREATE TABLE strict(k VARCHAR(20) COLLATE utf8mb4_bin PRIMARY KEY, v INT)",
              "INSERT INTO strict VALUES('abc',1),('ABC',2)",
              "CREATE TABLE western(k VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY, v INT)",
              "INSERT INTO western VALUES('é',1),('b',2)"},
             [&](engine& on) -> task<void> {
               const auto text = [](std::string_view of) { return std::vector{value::text(of)}; };
               EXPECT_EQ(co_await look_up(on, "loose",
                                          {text("ABC"), text("abc"), text("STRASSE"), text("x"),
                                           text("aBc"), text("straße"), text("none")}),
                         "[2] [2] - [3] [2] [1] -");
               EXPECT_EQ(co_await look_up(on, "strict", {text("ABC"), text("abc"), text("Abc")}),
                         "[2] [1] -");
               EXPECT_EQ(co_await look_up(on, "western", {text("é"), text("B"), text("b")}),
                         "[1] [2] [2]");
               EXPECT_EQ(co_await look_up(on, "western", {text("κ"), text("é"), text("B")}),
                         "- [1] [2]");
               EXPECT_EQ(co_await look_up(on, "western", {text("κ")}), "-");
             });
}

TEST_P(mysql_engine_read, texts_in_keys_of_several_columns_are_found_in_any_charset) {
  for (const std::string charset :
       {"latin1", "cp1251", "ucs2", "utf16", "utf32", "sjis", "gbk", "utf8mb3", "utf8mb4"}) {
    for (const std::string_view type : {"VARCHAR(6)", "CHAR(6)", "ENUM('я','ab')"}) {
      if (charset == "latin1" && type.starts_with("ENUM")) continue;  // it has no such letter
      SCOPED_TRACE(charset + " " + std::string{type});
      const std::string letter = charset == "latin1" ? "é" : "я";
      run_engine({"CREATE TABLE t(k " + std::string{type} + " CHARACTER SET " + charset +
                      ", n INT, v INT, PRIMARY KEY(k,n))",
                  "INSERT INTO t VALUES('" + letter + "',1,10),('ab',1,20)"},
                 [&](engine& on) -> task<void> {
                   const std::vector first{value::text(letter), value::integer(1)};
                   const std::vector second{value::text("ab"), value::integer(1)};
                   const std::vector none{value::text("ab"), value::integer(2)};
                   EXPECT_EQ(co_await look_up(on, "t", {first, second}), "[10] [20]");
                   EXPECT_EQ(co_await look_up(on, "t", {first, none}), "[10] -");
                   EXPECT_EQ(co_await look_up(on, "t", {none, first}), "- [10]");
                 });
    }
  }
}

TEST_P(mysql_engine_read, a_key_that_its_charset_cannot_hold_costs_others_few_round_trips) {
  run_engine({"CREATE TABLE t(k VARCHAR(20) CHARACTER SET cp1251 PRIMARY KEY, v INT)",
              "INSERT INTO t SELECT CONCAT('k', seq), seq FROM seq_1_to_50",
              "INSERT INTO t SELECT CONCAT('я', seq), seq FROM seq_51_to_99"},
             [&](engine& on) -> task<void> {
               std::vector<std::string> spelled;
               std::string all;
               for (int i = 1; i < 100; ++i) {
                 spelled.push_back((i <= 50 ? "k" : "я") + std::to_string(i));
                 all += "[" + std::to_string(i) + "] ";
               }
               std::vector<std::vector<value>> keys;
               for (const std::string& each : spelled) keys.push_back({value::text(each)});
               keys.push_back({value::text("😀")});
               EXPECT_EQ(co_await look_up(on, "t", keys), all + "-");
               const std::int64_t before = counted("store_round_trips_total");
               EXPECT_EQ(co_await look_up(on, "t", keys), all + "-");
               EXPECT_EQ(counted("store_round_trips_total") - before, 3)
                   << "all, what the charset holds of them, and those that it holds";
               // What the charset lacks is no longer than what it has.
               keys.back() = {value::text("é")};
               EXPECT_EQ(co_await look_up(on, "t", keys), all + "-");
             });
}

TEST_P(mysql_engine_read, keys_that_no_charset_holds_cost_few_round_trips_however_many_they_are) {
  run_engine({"CREATE TABLE one(k VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY, v INT)",
              "INSERT INTO one VALUES('?',1),('é',2),('a',3)",
              "CREATE TABLE two(k VARCHAR(20) CHARACTER SET latin1, n INT, "
              "l VARCHAR(20) CHARACTER SET cp1251, v INT, PRIMARY KEY(l,n,k))",
              "INSERT INTO two VALUES('é',1,'я',1),('?',2,'? ?',2),('A?',3,'я?',3)"},
             [&](engine& on) -> task<void> {
               std::vector<std::vector<value>> keys;
               std::string none;
               for (int i = 0; i < 100; ++i) {
                 keys.push_back({value::text(i % 2 == 0 ? "😀" : "é😀?")});
                 none += none.empty() ? "-" : " -";
               }
               std::int64_t before = counted("store_round_trips_total");
               const auto trips = [&] {
                 const std::int64_t all = counted("store_round_trips_total");
                 return all - std::exchange(before, all);
               };
               EXPECT_EQ(co_await look_up(on, "one", keys), none);
               EXPECT_EQ(trips(), 4) << "two to prepare, and two to ask";
               EXPECT_EQ(co_await look_up(on, "one", keys), none);
               EXPECT_EQ(trips(), 2);
               // Those that are no UTF-8 are no character together, either.
               const std::string_view some[] = {"?", "κ?", "é",        "κ",    "A",
                                                "é", "b",  "\xff\xfe", "\xe2", "\x82\xac"};
               keys.resize(90);
               for (const std::string_view each : some) keys.push_back({value::text(each)});
               EXPECT_EQ(co_await look_up(on, "one", keys),
                         none.substr(20) + " [1] - [2] - [3] [2] - - - -");
               EXPECT_LE(trips(), 6);
               const auto key = [](std::string_view l, int n, std::string_view k) {
                 return std::vector{value::text(l), value::integer(n), value::text(k)};
               };
               keys = {key("κ", 1, "é"),   key("я", 1, "é"),   key("я", 1, "я"),
                       key("é", 1, "é"),   key("? ?", 2, "?"), key("? κ", 2, "?"),
                       key("? ?", 2, "κ"), key("я?", 3, "a?")};
               EXPECT_EQ(co_await look_up(on, "two", keys), "- [1] - - [2] - - [3]");
               EXPECT_LE(trips(), 8);
             });
}

TEST_P(mysql_engine_read, a_charset_that_has_changed_is_noticed_and_looked_at_again) {
  run_engine({"CREATE TABLE t(k VARCHAR(20) CHARACTER SET cp1251 PRIMARY KEY, v INT)",
              "INSERT INTO t VALUES('a',1)"},
             [&](engine& on) -> task<void> {
               const std::vector<std::vector<value>> keys{{value::text("a")}, {value::text("я")}};
               EXPECT_EQ(co_await look_up(on, "t", keys), "[1] -");
               co_await sql("ALTER TABLE t MODIFY k VARCHAR(20) CHARACTER SET latin1");
               EXPECT_EQ(co_await look_up(on, "t", keys), "!schema_changed !schema_changed");
               EXPECT_EQ(co_await look_up(on, "t", keys), "[1] -");
             });
}

TEST_P(mysql_engine_read, keys_of_every_type_are_found_exactly) {
  struct key_case {
    const char* type;
    value key;
    value none;  // no row has this
  };
  const std::vector<key_case> cases{
      {"TINYINT", value::integer(-128), value::integer(1)},
      {"BIGINT", value::integer(INT64_MIN), value::integer(INT64_MAX)},
      {"BIGINT UNSIGNED", value::natural(UINT64_MAX), value::integer(INT64_MAX)},
      {"DECIMAL(65,30)",
       value::text("12345678901234567890123456789012345.123456789012345678901234567890"),
       value::text("12345678901234567890123456789012345.123456789012345678901234567891")},
      {"DECIMAL(10,2)", value::text("-0.50"), value::text("0.50")},
      {"CHAR(5)", value::text("abc"), value::text("abd")},
      {"BINARY(3)", value::bytes({"a\0\0", 3}), value::bytes({"a\0\1", 3})},
      {"VARBINARY(3)", value::bytes({"a\0", 2}), value::bytes("a")},
      {"BIT(64)", value::natural(UINT64_MAX), value::natural(1)},
      {"BIT(1)", value::natural(1), value::natural(0)},
      {"DATE", value::text("0001-01-01"), value::text("9999-12-31")},
      {"TIME(3)", value::text("-838:59:59.000"), value::text("838:59:59.000")},
      {"TIME", value::text("-00:00:01"), value::text("00:00:01")},
      {"DATETIME(6)", value::text("2026-01-02 03:04:05.678901"),
       value::text("2026-01-02 03:04:05.678900")},
      {"DATETIME", value::text("2026-01-02 03:04:05"), value::text("2026-01-02 03:04:06")},
      {"TIMESTAMP(3)", value::text("1970-01-01 00:00:01.000"),
       value::text("2038-01-19 03:14:07.000")},
      {"YEAR", value::integer(1901), value::integer(2155)},
      {"ENUM('b','a')", value::text("a"), value::text("b")},
  };
  for (const key_case& each : cases) {
    SCOPED_TRACE(each.type);
    run_engine(
        {std::string{"CREATE TABLE t(k "} + each.type + " PRIMARY KEY, v INT)"},
        [&](engine& on) -> task<void> {
          const catalog_ref schema = on.schema();
          const table& t = find(on, "t");
          const value content = value::integer(5);
          const column_position v = 1;
          const key_write written{write_kind::insert, &t, {&each.key, 1}, {&v, 1}, {&content, 1}};
          noted_writes done;
          EXPECT_TRUE(co_await on.write({&written, 1}, done));
          EXPECT_EQ(done.text, "ok") << done.message;
          const std::int64_t before = counted("store_round_trips_total");
          EXPECT_EQ(co_await look_up(on, "t", {{each.none}, {each.key}, {each.none}}), "- [5] -");
          const bool is_text_key = is_text(t.columns()[0].type);
          EXPECT_EQ(counted("store_round_trips_total") - before, is_text_key ? 4 : 2);
        });
  }
}

TEST_P(mysql_engine_read, tells_what_no_client_could_write) {
  run_engine(
      {"CREATE TABLE t(id INT PRIMARY KEY, a DATE, b DATETIME(3), c CHAR(5), d TIMESTAMP NULL, "
       "e FLOAT, f BIT(12), g YEAR, h TIME(2), i BLOB, j JSON, k SET('x','y'))",
       "SET SESSION sql_mode=''",
       "INSERT INTO t VALUES(1,'0000-00-00','2024-00-00','ab','0000-00-00',0.1,5,0,'-1:2:3.45',"
       "x'00ff','{\"a\": 1}','x,y')"},
      [&](engine& on) -> task<void> {
        EXPECT_EQ(
            co_await look_up(on, "t", {{value::integer(1)}}),
            R"(["0000-00-00","2024-00-00 00:00:00.000","ab","0000-00-00 00:00:00",0.1,"AAU=",)"
            R"(0,"-01:02:03.45","AP8=","{\"a\": 1}","x,y"])");
      });
}

TEST_P(mysql_engine_read, a_table_that_has_changed_is_noticed_and_looked_at_again) {
  run_engine({orders, three_orders}, [&](engine& on) -> task<void> {
    const catalog_ref old = on.schema();
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), R"([12.50,"first"])");
    co_await sql("ALTER TABLE orders DROP COLUMN note, ADD COLUMN size INT DEFAULT 4");
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), "!schema_changed");
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), "[12.50,4]");
    // Who has the old one still is told so without that the server is asked.
    const value key = value::integer(1);
    const table* const known = old->find(database, "orders");
    const key_read operations[] = {{known, {&key, 1}, known->values()}};
    noted_reads sink{operations};
    EXPECT_TRUE(co_await on.read(operations, sink));
    EXPECT_EQ(sink.text, "!schema_changed");
    co_await sql(
        "ALTER TABLE orders DROP PRIMARY KEY, ADD COLUMN n INT AUTO_INCREMENT PRIMARY KEY");
    co_await sql("INSERT INTO orders(id) VALUES(1)");
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), "!schema_changed")
        << "two rows have what was the key";
    co_await sql("DROP TABLE orders");
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), "!schema_changed");
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), "no table");
  });
}

TEST_P(mysql_engine_read, a_deadline_ends_a_batch_that_the_server_keeps) {
  run_engine({orders, three_orders}, [&](engine& on) -> task<void> {
    connection other{*loop_};
    EXPECT_TRUE(co_await other.open(server_.unix_socket(), mariadb_server::account()));
    EXPECT_TRUE(co_await other.run("LOCK TABLES engine_test.orders WRITE"));
    EXPECT_EQ(co_await with_timeout(std::chrono::milliseconds{50},
                                    look_up(on, "orders", {{value::integer(1)}})),
              error{errc::timed_out}.message());
    EXPECT_TRUE(co_await other.run("UNLOCK TABLES"));
    EXPECT_EQ(co_await look_up(on, "orders", {{value::integer(1)}}), R"([12.50,"first"])");
  });
}

}  // namespace
}  // namespace weft::store::mysql
