#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

/// A write to the table `t(id INT PRIMARY KEY, ...)`.
struct change {
  write_kind kind;
  std::int64_t id;
  std::vector<std::string_view> columns{};
  std::vector<value> values{};
};

class mysql_engine_write : public engine_fixture {
 protected:
  /// What becomes of a batch, and in `message` why.
  static task<std::string> write(engine& on, std::vector<change> changes,
                                 std::string* message = nullptr) {
    const catalog_ref schema = on.schema();
    const table& t = *schema->find(database, "t");
    std::vector<value> keys;
    std::vector<std::vector<column_position>> columns;
    for (const change& each : changes) {
      keys.push_back(value::integer(each.id));
      auto& of = columns.emplace_back();
      for (const std::string_view name : each.columns) of.push_back(t.find(name).value());
    }
    std::vector<key_write> operations;
    for (std::size_t i = 0; i < changes.size(); ++i)
      operations.push_back({changes[i].kind, &t, {&keys[i], 1}, columns[i], changes[i].values});
    noted_writes sink;
    const auto written = co_await on.write(operations, sink);
    if (message != nullptr) *message = sink.message;
    co_return written ? sink.text : written.error().message();
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_write, kernel_backends, backend_name);

using enum write_kind;

TEST_P(mysql_engine_write, changes_rows_and_says_which_were_there) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT, b VARCHAR(9) DEFAULT 'b')",
              "INSERT INTO t VALUES(1,10,'x')"},
             [&](engine& on) -> task<void> {
               EXPECT_EQ(co_await write(on, {{insert, 2, {"a"}, {value::integer(20)}},
                                             {update, 1, {"a", "b"}, {value::integer(11), {}}},
                                             {update, 3, {"a"}, {value::integer(30)}},
                                             {update, 2, {"a"}, {value::integer(20)}},
                                             {upsert, 4, {"a"}, {value::integer(40)}},
                                             {upsert, 4, {"b"}, {value::text("y")}},
                                             {upsert, 4},
                                             {upsert, 5},
                                             {remove, 6}}),
                         "ok ok - ok ok ok ok ok -");
               EXPECT_EQ(co_await sql("SELECT * FROM t"), "1 11 NULL|2 20 'b'|4 40 'y'|5 NULL 'b'");
               EXPECT_EQ(co_await write(on, {{remove, 1}}), "ok");
               EXPECT_EQ(co_await write(on, {{remove, 1}}), "-");
               EXPECT_EQ(co_await write(on, {{update, 2, {"a"}, {value::integer(20)}}}), "ok");
               EXPECT_EQ(co_await write(on, {}), "");
               EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t"), "3");
             });
  EXPECT_EQ(counted("store_writes_total"), 9);
  EXPECT_EQ(counted("store_commits_total"), 4);
  EXPECT_EQ(counted("store_write_batches_waiting"), 0);
}

TEST_P(mysql_engine_write, all_of_a_batch_is_done_or_nothing) {
  run_engine(
      {"CREATE TABLE t(id INT PRIMARY KEY, a TINYINT NOT NULL CHECK(a <> 5), e VARCHAR(5) UNIQUE, "
       "l VARCHAR(5) CHARACTER SET latin1)",
       "INSERT INTO t VALUES(1,1,'one',NULL)"},
      [&](engine& on) -> task<void> {
        const value two = value::integer(2);
        const change good{insert, 7, {"a"}, {two}};
        std::string why;
        EXPECT_EQ(co_await write(on, {good, {insert, 1, {"a"}, {two}}}),
                  "!rolled_back !duplicate_key");
        EXPECT_EQ(co_await write(on, {{insert, 8, {"a", "e"}, {two, value::text("ONE")}}, good}),
                  "!duplicate_key !rolled_back");
        EXPECT_EQ(
            co_await write(on, {good, {upsert, 8, {"a", "e"}, {two, value::text("one")}}}, &why),
            "!rolled_back !duplicate_key")
            << "an upsert is of its key's row, and of no other";
        EXPECT_NE(why.find("for key 'e'"), std::string::npos) << why;
        EXPECT_EQ(co_await write(on, {good, {insert, 8}}), "!rolled_back !constraint");
        EXPECT_EQ(co_await write(on, {{upsert, 8, {"e"}, {value::text("x")}}}), "!constraint");
        EXPECT_EQ(co_await write(on, {good, {insert, 8, {"a"}, {value::integer(5)}}}),
                  "!rolled_back !constraint");
        EXPECT_EQ(co_await write(on, {{update, 1, {"a"}, {value::integer(300)}}}), "!constraint");
        EXPECT_EQ(co_await write(on, {{update, 1, {"e"}, {value::text("too long")}}}),
                  "!constraint");
        EXPECT_EQ(co_await write(on, {{update, 1, {"l"}, {value::text("κ")}}}), "!constraint");
        EXPECT_EQ(co_await sql("SELECT * FROM t"), "1 1 'one' NULL");
        EXPECT_EQ(co_await write(on, {{upsert, 1, {"e"}, {value::text("uno")}}, good}), "ok ok");
      });
}

TEST_P(mysql_engine_write, a_batch_is_refused_where_the_server_could_not_undo_it) {
  for (const std::string_view keeper : {"MyISAM", "Aria", "MEMORY"}) {
    const std::string made = "CREATE TABLE t(id INT PRIMARY KEY, a INT) ENGINE=";
    run_engine(
        {made + std::string{keeper}, "INSERT INTO t VALUES(1,10)"}, [&](engine& on) -> task<void> {
          std::string why;
          EXPECT_EQ(co_await write(on, {{insert, 2}, {insert, 1}}, &why), "!invalid !rolled_back");
          EXPECT_EQ(co_await write(on, {{insert, 2}, {insert, 3}}), "!invalid !rolled_back");
          EXPECT_EQ(why, "the table engine_test.t is kept by " + std::string{keeper} +
                             ", which has no transactions, so that a batch might be done in "
                             "part: write its rows one at a time, or ALTER TABLE "
                             "`engine_test`.`t` ENGINE=InnoDB");
          EXPECT_EQ(co_await sql("SELECT * FROM t"), "1 10");
          EXPECT_EQ(co_await write(on, {{insert, 2, {"a"}, {value::integer(20)}}}), "ok");
          EXPECT_EQ(co_await write(on, {{upsert, 2, {"a"}, {value::integer(21)}}}), "ok");
          EXPECT_EQ(co_await write(on, {{upsert, 3, {"a"}, {value::integer(30)}}}), "ok");
          EXPECT_EQ(co_await write(on, {{update, 3, {"a"}, {value::integer(31)}}}), "ok");
          EXPECT_EQ(co_await write(on, {{remove, 1}}), "ok");
          EXPECT_EQ(co_await sql("SELECT * FROM t ORDER BY id"), "2 21|3 31");
        });
    EXPECT_EQ(counted("store_writes_total"), 5) << keeper;
  }
}

TEST_P(mysql_engine_write, a_row_that_is_upserted_alone_takes_no_more_than_it_must) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT)"}, [&](engine& on) -> task<void> {
    const change one{upsert, 1, {"a"}, {value::integer(2)}};
    EXPECT_EQ(co_await write(on, {one}), "ok");
    EXPECT_EQ(co_await write(on, {one}), "ok");
    const std::int64_t before = counted("store_round_trips_total");
    EXPECT_EQ(co_await write(on, {one}), "ok");
    EXPECT_EQ(counted("store_round_trips_total") - before, 1) << "it was there";
    EXPECT_EQ(co_await write(on, {{upsert, 2, {"a"}, {value::integer(2)}}}), "ok");
    EXPECT_EQ(counted("store_round_trips_total") - before, 3) << "it was not";
  });
}

/// Of a row each, with ids that follow each other, and `a` as the id.
std::vector<change> rows_from(write_kind kind, int first, int count) {
  std::vector<change> all;
  for (int id = first; id < first + count; ++id)
    all.push_back({kind, id, {"a"}, {value::integer(id)}});
  return all;
}

/// What becomes of so many operations, of which the one at `failed` was to blame.
std::string outcomes(std::size_t count, std::string_view each, std::size_t failed = SIZE_MAX,
                     std::string_view why = {}) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all.append(" ").append(i == failed ? why : each);
  return all.substr(1);
}

TEST_P(mysql_engine_write, many_rows_are_inserted_in_few_round_trips) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT)"}, [&](engine& on) -> task<void> {
    constexpr int count = 100;  // as 64, 16, 16 and 4 single ones, and begin and end
    EXPECT_EQ(co_await write(on, rows_from(insert, 0, count)), outcomes(count, "ok"));
    EXPECT_EQ(co_await write(on, rows_from(upsert, 100, count)), outcomes(count, "ok"));
    std::int64_t before = counted("store_round_trips_total");
    EXPECT_EQ(co_await write(on, rows_from(insert, 200, count)), outcomes(count, "ok"));
    EXPECT_EQ(counted("store_round_trips_total") - before, 2 + 3 + 4);
    before = counted("store_round_trips_total");
    EXPECT_EQ(co_await write(on, rows_from(upsert, 300, count)), outcomes(count, "ok"));
    EXPECT_EQ(counted("store_round_trips_total") - before, 2 + 3 + 4 * 2);
    EXPECT_EQ(co_await sql("SELECT COUNT(*), SUM(id = a) FROM t"), "400 '400'");
  });
}

TEST_P(mysql_engine_write, rows_of_many_bytes_or_columns_are_inserted_one_by_one) {
  constexpr int columns = 200;
  std::string wide = "CREATE TABLE t(id INT PRIMARY KEY, a LONGTEXT";
  std::vector<std::string> names{"a"};
  for (int i = 0; i < columns; ++i) {
    names.push_back("c" + std::to_string(i));
    wide.append(", ").append(names.back()).append(" INT");
  }
  run_engine({wide + ")"}, [&](engine& on) -> task<void> {
    constexpr int count = 16;
    int first = 0;
    const auto trips_for = [&](std::vector<std::string_view> of,
                               std::vector<value> values) -> task<std::int64_t> {
      std::vector<change> all = rows_from(insert, std::exchange(first, first + count), count);
      for (change& each : all) {
        each.columns = of;
        each.values = values;
      }
      const std::int64_t before = counted("store_round_trips_total");
      EXPECT_EQ(co_await write(on, std::move(all)), outcomes(count, "ok"));
      co_return counted("store_round_trips_total") - before;
    };
    const std::string text(20'000, 'x');
    const std::vector<std::string_view> every{names.begin(), names.end()};
    const std::vector<value> nothing(names.size());
    std::int64_t small = 0;
    std::int64_t large = 0;
    std::int64_t many = 0;
    for (int run = 0; run < 2; ++run) {  // the second with statements that are there
      small = co_await trips_for({"a"}, {value::text("x")});
      large = co_await trips_for({"a"}, {value::text(text)});
      many = co_await trips_for(every, nothing);
    }
    EXPECT_EQ(small, 2 + 1);
    EXPECT_EQ(large, 2 + count);
    EXPECT_EQ(many, 2 + count);
  });
}

TEST_P(mysql_engine_write, of_many_rows_the_one_that_fails_is_found) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT NOT NULL, b INT UNIQUE)",
              "INSERT INTO t VALUES(1050,1,7)"},
             [&](engine& on) -> task<void> {
               const auto refused = [](std::size_t count, std::size_t at, std::string_view why) {
                 return outcomes(count, "!rolled_back", at, why);
               };
               EXPECT_EQ(co_await write(on, rows_from(insert, 1000, 100)),
                         refused(100, 50, "!duplicate_key"));
               for (const write_kind kind : {insert, upsert}) {
                 auto all = rows_from(kind, 1, 40);
                 all[17].values = {value{}};
                 EXPECT_EQ(co_await write(on, all), refused(40, 17, "!constraint"));
                 all[17].columns = {"b"};
                 all[17].values = {value::integer(8)};
                 EXPECT_EQ(co_await write(on, all), refused(40, 17, "!constraint"));
                 all[17].columns = {"a", "b"};
                 all[17].values = {value::integer(8), value::integer(7)};
                 EXPECT_EQ(co_await write(on, all), refused(40, 17, "!duplicate_key"));
               }
               EXPECT_EQ(co_await sql("SELECT * FROM t"), "1050 1 7");
             });
}

TEST_P(mysql_engine_write, many_rows_are_upserted_whether_they_are_there_or_not) {
  run_engine(
      {"CREATE TABLE t(id INT PRIMARY KEY, a INT, b INT DEFAULT 5)",
       "INSERT INTO t VALUES(30,1,7)"},
      [&](engine& on) -> task<void> {
        auto all = rows_from(upsert, 1, 40);
        all.push_back({upsert, 3, {"a"}, {value::integer(300)}});
        all.push_back({upsert, 4, {"b"}, {value::integer(400)}});
        EXPECT_EQ(co_await write(on, all), outcomes(42, "ok"));
        EXPECT_EQ(co_await sql("SELECT COUNT(*), SUM(id = a), SUM(b = 5) FROM t"), "40 '39' '38'");
        EXPECT_EQ(co_await sql("SELECT * FROM t WHERE id IN(3,4,30)"), "3 300 5|4 4 400|30 30 7");
      });
}

TEST_P(mysql_engine_write, rows_that_make_too_large_a_packet_together_are_inserted_one_by_one) {
  run_engine(
      {"SET GLOBAL max_allowed_packet = 65536", "CREATE TABLE t(id INT PRIMARY KEY, a LONGTEXT)"},
      [&](engine& on) -> task<void> {
        const std::string text(15'000, 'x');
        std::vector<change> all = rows_from(insert, 0, 40);
        for (change& each : all) each.values = {value::text(text)};
        EXPECT_EQ(co_await write(on, all), outcomes(40, "ok"));
        EXPECT_EQ(co_await sql("SELECT COUNT(*), SUM(LENGTH(a)) FROM t"), "40 '600000'");
        EXPECT_EQ(co_await sql("SET GLOBAL max_allowed_packet = DEFAULT"), "");
      });
}

TEST_P(mysql_engine_write, a_table_that_has_changed_is_written_to_by_nobody) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT)"}, [&](engine& on) -> task<void> {
    const change one{insert, 1, {"a"}, {value::integer(2)}};
    co_await sql("ALTER TABLE t CHANGE a b INT");
    EXPECT_EQ(co_await write(on, {{insert, 2}, one}), "!rolled_back !schema_changed");
    EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t"), "0");
    EXPECT_EQ(co_await write(on, {{insert, 2}}), "ok");
  });
}

TEST_P(mysql_engine_write, a_key_that_its_charset_cannot_hold_is_that_of_no_row) {
  run_engine({"CREATE TABLE t(k VARCHAR(9) CHARACTER SET latin1 PRIMARY KEY, a INT)",
              "INSERT INTO t VALUES('?',1),('b',2)", "CREATE TABLE ruled LIKE t",
              "INSERT INTO ruled SELECT * FROM t",
              "CREATE TRIGGER mixes BEFORE DELETE ON ruled FOR EACH ROW "
              "SET @is = OLD.k COLLATE latin1_bin = CONVERT(OLD.a USING latin1) COLLATE "
              "latin1_swedish_ci"},
             [&](engine& on) -> task<void> {
               const auto change = [&](std::string_view in, write_kind kind,
                                       std::vector<std::string_view> spelled) -> task<std::string> {
                 const value content = value::integer(7);
                 const column_position a = 1;
                 std::vector<value> keys;
                 for (const std::string_view each : spelled) keys.push_back(value::text(each));
                 std::vector<key_write> operations;
                 for (const value& key : keys)
                   operations.push_back({kind, &find(on, in), {&key, 1}, {&a, 1}, {&content, 1}});
                 noted_writes sink;
                 EXPECT_TRUE(co_await on.write(operations, sink));
                 co_return sink.text;
               };
               EXPECT_EQ(co_await change("t", update, {"κ"}), "-");
               EXPECT_EQ(co_await change("t", remove, {"κ"}), "-");
               EXPECT_EQ(co_await change("t", update, {"b", "κ", "none"}), "ok - -");
               EXPECT_EQ(co_await sql("SELECT * FROM t"), "'?' 1|'b' 7");
               EXPECT_EQ(co_await change("t", upsert, {"κ"}), "!constraint");
               EXPECT_EQ(co_await change("t", upsert, {"b", "κ"}), "!rolled_back !constraint");
               EXPECT_EQ(co_await change("t", remove, {"κ", "b"}), "- ok");
               EXPECT_EQ(co_await sql("SELECT * FROM t"), "'?' 1");
               EXPECT_EQ(co_await change("ruled", remove, {"b"}), "!invalid")
                   << "its charset holds it: it is the trigger's fault";
             });
}

TEST_P(mysql_engine_write, a_row_that_another_keeps_is_waited_for_until_the_deadline) {
  options_.write_time = std::chrono::milliseconds{200};
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT)", "INSERT INTO t VALUES(1,1),(2,2)"},
             [&](engine& on) -> task<void> {
               connection other{*loop_};
               EXPECT_TRUE(co_await other.open(server_.unix_socket(), mariadb_server::account()));
               EXPECT_TRUE(co_await other.run("START TRANSACTION"));
               EXPECT_TRUE(co_await other.run("UPDATE engine_test.t SET a=5 WHERE id=1"));
               const change first{update, 2, {"a"}, {value::integer(9)}};
               const change second{update, 1, {"a"}, {value::integer(9)}};
               EXPECT_EQ(co_await write(on, {first, second}), error{errc::timed_out}.message());
               EXPECT_TRUE(co_await other.run("ROLLBACK"));
               EXPECT_EQ(co_await sql("SELECT a FROM t ORDER BY id"), "1|2") << "nothing was done";
               EXPECT_EQ(co_await write(on, {first, second}), "ok ok");
             });
}

TEST_P(mysql_engine_write, a_single_row_that_another_keeps_is_waited_for_until_the_server_ends_it) {
  options_.write_time = std::chrono::milliseconds{100};
  options_.statement_time = std::chrono::milliseconds{300};
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT)", "INSERT INTO t VALUES(1,1)"},
             [&](engine& on) -> task<void> {
               connection other{*loop_};
               EXPECT_TRUE(co_await other.open(server_.unix_socket(), mariadb_server::account()));
               EXPECT_TRUE(co_await other.run("START TRANSACTION"));
               EXPECT_TRUE(co_await other.run("UPDATE engine_test.t SET a=5 WHERE id=1"));
               EXPECT_EQ(co_await write(on, {{update, 1, {"a"}, {value::integer(9)}}}), "!busy")
                   << "which leaves no doubt";
               EXPECT_TRUE(co_await other.run("ROLLBACK"));
               EXPECT_EQ(co_await sql("SELECT a FROM t"), "1");
             });
}

TEST_P(mysql_engine_write, a_row_that_is_too_large_for_the_server_is_not_written) {
  run_engine(
      {"SET GLOBAL max_allowed_packet = 65536", "CREATE TABLE t(id INT PRIMARY KEY, a LONGTEXT)"},
      [&](engine& on) -> task<void> {
        const std::string text(100'000, 'x');
        const change large{upsert, 2, {"a"}, {value::text(text)}};
        EXPECT_EQ(co_await write(on, {large}), "!too_large");
        EXPECT_EQ(co_await write(on, {{insert, 1}, large}), "!rolled_back !too_large");
        EXPECT_EQ(counted("store_connections_lost_total"), 0) << "the server was not sent it";
        EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t"), "0");
        EXPECT_EQ(co_await sql("SET GLOBAL max_allowed_packet = DEFAULT"), "");
      });
}

TEST_P(mysql_engine_write, a_key_of_zero_is_a_key_and_does_not_count_on) {
  run_engine({"CREATE TABLE t(id INT AUTO_INCREMENT PRIMARY KEY, a INT)"},
             [&](engine& on) -> task<void> {
               EXPECT_EQ(co_await write(on, {{insert, 0, {"a"}, {value::integer(1)}}}), "ok");
               EXPECT_EQ(co_await write(on, {{upsert, 0, {"a"}, {value::integer(2)}}}), "ok");
               EXPECT_EQ(co_await write(on, {{upsert, 0, {"a"}, {value::integer(3)}}}), "ok");
               EXPECT_EQ(co_await sql("SELECT id, a FROM t ORDER BY id"), "0 3");
             });
}

TEST_P(mysql_engine_write, those_that_wait_for_each_other_end_and_do_nothing) {
  run_engine(
      {"CREATE TABLE t(id INT PRIMARY KEY, a INT NOT NULL)",
       "INSERT INTO t SELECT seq, 0 FROM seq_1_to_40"},
      [&](engine& on) -> task<void> {
        std::vector<change> up;
        for (int i = 1; i <= 40; ++i) up.push_back({update, i, {"a"}, {value::integer(1)}});
        std::vector<change> down{up.rbegin(), up.rend()};
        std::string outcomes[2];
        scope both{co_await this_task::environment()};
        for (auto& [changes, to] : {std::pair{&up, &outcomes[0]}, std::pair{&down, &outcomes[1]}})
          both.spawn([](engine& by, std::vector<change> all, std::string& out) -> task<void> {
            out = co_await write(by, std::move(all));
          }(on, *changes, *to));
        co_await both.join();
        for (const std::string& each : outcomes)
          EXPECT_TRUE(each.starts_with("ok ok ") || each.starts_with("!busy !busy ")) << each;
        EXPECT_TRUE(outcomes[0].starts_with("ok") || outcomes[1].starts_with("ok"));
      });
}

}  // namespace
}  // namespace weft::store::mysql
