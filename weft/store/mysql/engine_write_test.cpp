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

TEST_P(mysql_engine_write, a_table_that_has_changed_is_written_to_by_nobody) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, a INT)"}, [&](engine& on) -> task<void> {
    const change one{insert, 1, {"a"}, {value::integer(2)}};
    co_await sql("ALTER TABLE t CHANGE a b INT");
    EXPECT_EQ(co_await write(on, {{insert, 2}, one}), "!rolled_back !schema_changed");
    EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t"), "0");
    EXPECT_EQ(co_await write(on, {{insert, 2}}), "ok");
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
