#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/format.hpp>
#include <weft/base/random.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_engine_query : public engine_fixture {
 protected:
  static constexpr std::string_view people =
      "CREATE TABLE people(id INT PRIMARY KEY, name VARCHAR(20), balance DECIMAL(10,2), photo "
      "BLOB)";
  static constexpr std::string_view two_people =
      "INSERT INTO people VALUES(1,'Ada',12.5,x'00ff'),(2,'κόσμε',NULL,NULL)";

  /// The same table so many times again: each doubles the rows of two.
  static std::string joined(int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += weft::format(", people p{}", i);
    return text;
  }

  static task<std::string> ask_sql(engine& on, std::string_view text,
                                   std::vector<query_parameter> parameters = {},
                                   std::string* message = nullptr) {
    noted_query sink;
    const auto all =
        co_await on.query({.database = database, .text = text, .parameters = parameters}, sink);
    if (message != nullptr) *message = sink.message;
    co_return all ? sink.text : all.error().message();
  }

  /// Runs for hours.
  static std::string endless() {
    std::string text = "SELECT COUNT(*) FROM people p0";
    for (int i = 1; i < 60; ++i) text += weft::format(", people p{}", i);
    return text;
  }
  /// How many of those the server runs, as another connection sees it.
  task<std::string> running() {
    co_return co_await sql(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Execute' AND "
        "info LIKE '%people p59%' AND id <> CONNECTION_ID()");
  }
  task<void> until_running(std::string_view count) {
    std::string now;
    for (int looks = 0; now != count && looks < 3'000; ++looks) {
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{20}));
      now = co_await running();
    }
    EXPECT_EQ(now, count);
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_query, kernel_backends, backend_name);

TEST_P(mysql_engine_query, tells_rows_with_columns_as_the_server_has_them) {
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    EXPECT_EQ(co_await ask_sql(on, "SELECT *, 1+1 AS two, id FROM people ORDER BY id"),
              "id name balance photo two id:1 [1,\"Ada\",12.50,\"AP8=\",2,1] "
              "[2,\"κόσμε\",null,null,2,2]");
    EXPECT_EQ(co_await ask_sql(on, "SELECT id FROM people WHERE 0"), "id");
    EXPECT_EQ(co_await ask_sql(on,
                               "SELECT CAST('2024-01-02 03:04:05.5' AS DATETIME(2)) a, 0.1e0 b, "
                               "CAST(-1 AS UNSIGNED) c, b'101' d, NULL e, 1.50 f, CURRENT_DATE "
                               "IS NULL g"),
              "a b c d e f g [\"2024-01-02 03:04:05.50\",0.1,18446744073709551615,\"BQ==\",null,"
              "1.50,0]");
    const std::string text =
        co_await ask_sql(on, "SELECT REPEAT('x', 100000) a, REPEAT('y', 70) b");
    EXPECT_EQ(text.size(), 100'000U + 70 + std::string_view{"a b [\"\",\"\"]"}.size());
  });
}

TEST_P(mysql_engine_query, that_is_larger_than_the_server_takes_is_not_sent) {
  run_engine({people, "SET GLOBAL max_allowed_packet = 16384"}, [&](engine& on) -> task<void> {
    std::string message;
    const std::string text = "SELECT '" + std::string(20'000, 'x') + "'";
    EXPECT_EQ(co_await ask_sql(on, text, {}, &message), "!invalid");
    EXPECT_EQ(message,
              "20009 bytes are more than the database server takes at once, which is 16384: send "
              "less, or raise max_allowed_packet there");
    EXPECT_EQ(counted("store_connections_lost_total"), 0);
    EXPECT_EQ(co_await sql("SET GLOBAL max_allowed_packet = DEFAULT"), "");
  });
}

TEST_P(mysql_engine_query, tells_bits_only_where_it_is_sure_of_them) {
  run_engine(
      {"CREATE TABLE t(id INT PRIMARY KEY, b BIT(8))", "INSERT INTO t VALUES(1,255),(2,53)"},
      [&](engine& on) -> task<void> {
        EXPECT_EQ(co_await ask_sql(on, "SELECT b FROM t"), "b [\"/w==\"] [\"NQ==\"]");
        EXPECT_EQ(co_await ask_sql(on, "SELECT b FROM t GROUP BY b"), "b [\"NQ==\"] [\"/w==\"]");
        EXPECT_EQ(co_await ask_sql(on, "SELECT MAX(b)+0 v FROM t"), "v [255]");
        for (const std::string_view computed :
             {"MAX(b)", "IF(id=1,b,b)", "CASE WHEN id=1 THEN b END", "COALESCE(b)", "LEAST(b,b)",
              "NULLIF(b,b'0')", "(SELECT MAX(b) FROM t)", "COALESCE(?,b)"}) {
          const std::string text = weft::format("SELECT id, {} v FROM t WHERE id=1", computed);
          std::vector<query_parameter> parameters;
          if (computed.contains('?')) parameters.push_back({.bound = {}});
          std::string why;
          EXPECT_EQ(co_await ask_sql(on, text, parameters, &why), "!invalid") << computed;
          EXPECT_TRUE(why.starts_with("v is a BIT that the server computes")) << why;
        }
        EXPECT_EQ(co_await ask_sql(on, "SELECT id FROM t WHERE id=1"), "id [1]");
      });
}

TEST_P(mysql_engine_query, binds_values_to_parameters) {
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    const query_parameter by_place[] = {{.bound = value::text("'; DROP TABLE people; --")},
                                        {.bound = value::integer(2)},
                                        {.bound = value::real(0.5)},
                                        {.bound = {}}};
    EXPECT_EQ(co_await ask_sql(on, "SELECT ? a, id, ? c, ? d FROM people WHERE id <> 1",
                               {by_place[0], by_place[2], by_place[3]}),
              "a id c d [\"'; DROP TABLE people; --\",2,0.5,null]");
    EXPECT_EQ(co_await ask_sql(on, "SELECT :b a, :a+:a b -- :c\n, ':d' c /* :e */",
                               {{.name = "a", .bound = value::integer(2)},
                                {.name = "b", .bound = value::text("x")}}),
              "a b c [\"x\",4,\":d\"]");
    std::string why;
    EXPECT_EQ(co_await ask_sql(on, "SELECT ?", {}, &why), "!invalid");
    EXPECT_EQ(why, "the query takes 1 parameters, and 0 are given");
    EXPECT_EQ(co_await ask_sql(on, "SELECT :x", {{.name = "y", .bound = {}}}, &why), "!invalid");
    EXPECT_EQ(why, "no value is given for the parameter :x");
    EXPECT_EQ(co_await ask_sql(on, "SELECT 1", {{.name = "y", .bound = {}}}, &why), "!invalid");
    EXPECT_EQ(why, "the query has no parameter named y");
  });
}

TEST_P(mysql_engine_query, only_reads_and_only_its_own_database) {
  run_engine({people, two_people,
              "CREATE FUNCTION sneaky() RETURNS INT MODIFIES SQL DATA BEGIN "
              "DELETE FROM people; RETURN 1; END",
              "CREATE FUNCTION next(x INT) RETURNS INT RETURN x",
              "CREATE VIEW accounts AS SELECT user FROM mysql.user", "CREATE SEQUENCE counted"},
             [&](engine& on) -> task<void> {
               for (const std::string_view text :
                    {"DELETE FROM people",
                     "UPDATE people SET id=9",
                     "DROP TABLE people",
                     "COMMIT",
                     "SET autocommit=1",
                     "",
                     " -- nothing",
                     "SELECT 1; DELETE FROM people",
                     "WITH a AS (SELECT 1) DELETE FROM people",
                     "SELECT sneaky()",
                     "SELECT id FROM people FOR UPDATE",
                     "SELECT 1 INTO @a",
                     "SELECT @a:=1",
                     "SELECT @@version",
                     "SELECT id FROM people INTO OUTFILE '/tmp/weft-outfile'",
                     "SELECT LOAD_FILE('/etc/passwd')",
                     "SELECT SLEEP(1)",
                     "SELECT `sleep` (1)",
                     "SELECT /*!SLEEP(1)*/ 1",
                     "SELECT GET_LOCK('a',1)",
                     "SELECT NEXTVAL(counted)",
                     "SELECT NEXT VALUE FOR counted",
                     "SELECT * FROM mysql.user",
                     "SELECT * FROM `mysql` . user",
                     "SELECT * FROM shop/**/.x",
                     "SELECT seq FROM seq_1_to_9",
                     "SELECT wsrep_sync_wait_upto_gtid('0-0-0', 1)",
                     "SELECT master_gtid_wait('0-0-1', 1)",
                     "SELECT * FROM accounts",
                     "WITH accounts AS (SELECT * FROM accounts) SELECT * FROM accounts",
                     "WITH accounts AS (SELECT 1) SELECT * FROM engine_test.accounts",
                     "SELECT * FROM (WITH accounts AS (SELECT 1) SELECT 1) a, accounts",
                     "WITH a AS (SELECT 1) (SELECT id FROM people) ORDER BY 1, SLEEP(1)",
                     "WITH a AS (SELECT 1) VALUES (1), (2) ORDER BY 1, sneaky()",
                     "SELECT next(1)",
                     "SHOW TABLES",
                     "SELECT * FROM Information_Schema.tables",
                     "CALL p()",
                     "EXPLAIN SELECT 1",
                     "SELECT 'a",
                     "SELECT nosuch FROM people",
                     "SELECT * FROM nosuch",
                     "SELEC 1",
                     "SELECT * FROM people PROCEDURE ANALYSE()"}) {
                 std::string why;
                 EXPECT_EQ(co_await ask_sql(on, text, {}, &why), "!invalid") << text;
                 EXPECT_NE(why, "") << text;
               }
               EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM people"), "2");
               EXPECT_EQ(co_await ask_sql(on, "SELECT p.id FROM engine_test.people p LIMIT 1"),
                         "id [1]");
             });
}

TEST_P(mysql_engine_query, ends_when_there_is_enough_and_says_whether_that_was_all) {
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    const auto count = [&](std::string_view text, std::size_t rows_max,
                           std::size_t sink_max) -> task<std::string> {
      noted_query sink;
      sink.rows_max = sink_max;
      const auto all =
          co_await on.query({.database = database, .text = text, .rows_max = rows_max}, sink);
      co_return std::to_string(sink.rows) + (all.value_or(false) ? " all" : " some");
    };
    EXPECT_EQ(co_await count("SELECT id FROM people", 2, 9), "2 all");
    EXPECT_EQ(co_await count("SELECT id FROM people", 1, 9), "1 some");
    EXPECT_EQ(co_await count("SELECT id FROM people", 9, 2), "2 all");
    EXPECT_EQ(co_await count("SELECT id FROM people", 9, 1), "1 some");
    const std::string many = "SELECT a.id FROM people a" + joined(16);  // 131,072
    EXPECT_EQ(co_await count(many, 10, 99), "10 some");
    EXPECT_EQ(co_await count(many, 1'000'000, 1'000'000), "131072 all");
    EXPECT_EQ(co_await ask_sql(on, "SELECT id FROM people WHERE id=1"), "id [1]");
    noted_query sink;
    EXPECT_EQ((co_await on.query({.database = "nosuch", .text = "SELECT 1"}, sink)).error(),
              errc::not_found);
  });
  EXPECT_EQ(counted("store_query_rows_total"), 131'089);
}

TEST_P(mysql_engine_query, that_nobody_waits_for_is_ended_on_the_server) {
  options_.statement_time = std::chrono::hours{1};
  options_.connections_max = 1;
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    scope asked{co_await this_task::environment()};
    asked.spawn([](engine& of, std::string text) -> task<void> {
      EXPECT_TRUE((co_await ask_sql(of, text)).starts_with("cancelled"));
    }(on, endless()));
    co_await until_running("1");
    asked.request_stop();
    co_await asked.join();
    EXPECT_EQ(counted("store_queries_killed_total"), 1);
    co_await until_running("0");
    EXPECT_EQ(co_await ask_sql(on, "SELECT 1 a"), "a [1]");
  });
}

/// On a machine that stands still a deadline may pass before the query runs: then the next one is
/// later.
TEST_P(mysql_engine_query, is_ended_on_the_server_when_its_deadline_passes) {
  options_.statement_time = std::chrono::hours{1};
  options_.connections_max = 1;
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    bool was_seen = false;
    for (duration patience = std::chrono::milliseconds{200};
         !was_seen && patience < std::chrono::minutes{2}; patience *= 2) {
      const std::int64_t killed_before = counted("store_queries_killed_total");
      scope asked{co_await this_task::environment()};
      bool is_over = false;
      asked.spawn([](engine& of, std::string text, duration most, bool& over) -> task<void> {
        EXPECT_EQ(co_await with_timeout(most, ask_sql(of, text)), error{errc::timed_out}.message());
        over = true;
      }(on, endless(), patience, is_over));
      while (!is_over) {
        EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{20}));
        const std::string now = co_await running();
        was_seen = was_seen || (!is_over && now == "1");
      }
      co_await asked.join();
      if (was_seen) EXPECT_EQ(counted("store_queries_killed_total"), killed_before + 1);
      co_await until_running("0");
    }
    EXPECT_TRUE(was_seen);
    EXPECT_EQ(co_await ask_sql(on, "SELECT 1 a"), "a [1]");
  });
}

TEST_P(mysql_engine_query, what_takes_too_long_is_ended) {
  options_.statement_time = std::chrono::milliseconds{100};
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    EXPECT_EQ(co_await ask_sql(on, "SELECT SUM(a.id + RAND()) FROM people a" + joined(50)),
              error{errc::timed_out}.message());
    EXPECT_EQ(co_await ask_sql(on, "SELECT 1 a"), "a [1]");
  });
}

/// Within LOCATE() a server looks at neither KILL nor its limit of time: this takes it hours.
TEST_P(mysql_engine_query, keeps_its_slot_while_its_server_cannot_end_it) {
  options_.statement_time = std::chrono::milliseconds{100};
  options_.query_wait = std::chrono::milliseconds{100};
  options_.queries_max = 1;
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    EXPECT_EQ(co_await ask_sql(
                  on, "SELECT LOCATE(CONCAT(REPEAT('a', 4000000), 'b'), REPEAT('a', 8000000))"),
              error{errc::timed_out}.message());
    EXPECT_EQ(counted("store_queries_left_running"), 1);
    EXPECT_EQ(co_await ask_sql(on, "SELECT 1 a"), error{errc::limit_exceeded}.message());
    server_.kill();
    server_.start();
    std::string told;
    for (int i = 0; i < 600 && told != "a [1]"; ++i) {
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{100}));
      told = co_await ask_sql(on, "SELECT 1 a");
    }
    EXPECT_EQ(told, "a [1]");
    EXPECT_EQ(counted("store_queries_left_running"), 0);
  });
}

TEST_P(mysql_engine_query, gives_its_slot_back_where_no_server_answers_for_long) {
  options_.statement_time = std::chrono::milliseconds{100};
  options_.unseen_query_time = std::chrono::milliseconds{100};
  options_.queries_max = 1;
  run_engine({people, two_people}, [&](engine& on) -> task<void> {
    EXPECT_EQ(co_await ask_sql(
                  on, "SELECT LOCATE(CONCAT(REPEAT('a', 4000000), 'b'), REPEAT('a', 8000000))"),
              error{errc::timed_out}.message());
    EXPECT_EQ(counted("store_queries_left_running"), 1);
    server_.kill();
    for (int i = 0; i < 600 && counted("store_queries_left_running") != 0; ++i)
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{100}));
    EXPECT_EQ(counted("store_queries_left_running"), 0);
    EXPECT_EQ(counted("store_queries_given_up_total"), 1);
    server_.start();
    std::string told;
    for (int i = 0; i < 600 && told != "a [1]"; ++i) {
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{100}));
      told = co_await ask_sql(on, "SELECT 1 a");
    }
    EXPECT_EQ(told, "a [1]");
  });
}

/// Text that is SQL more often than not, with a table of another database here and there.
std::string drawn_query(random& seed, int depth) {
  const auto one_of = [&](std::initializer_list<std::string_view> all) {
    return std::string{*(all.begin() + seed.below(all.size()))};
  };
  const auto source = [&]() -> std::string {
    if (depth > 0 && seed.chance(1, 6)) return "(" + drawn_query(seed, depth - 1) + ") AS d";
    if (seed.chance(1, 3))
      return one_of({"fresh.salaries", "fresh . salaries s", "`fresh`.salaries", "(fresh.salaries)",
                     "(people, fresh.salaries)", "(TABLE fresh.salaries) t",
                     "{ OJ fresh.salaries LEFT OUTER JOIN people ON 1 }", "fresh/**/.\nsalaries"});
    return one_of({"people", "people p", "engine_test.people", "people `where`", "people offset",
                   "(people)", "people USE INDEX FOR ORDER BY (PRIMARY)"});
  };
  std::string text = one_of({"SELECT ", "SELECT ", "SELECT ", "SELECT STRAIGHT_JOIN ",
                             "WITH fresh AS (SELECT 1 AS id) SELECT ",
                             "WITH RECURSIVE fresh (id) AS (SELECT 1) SELECT "});
  text += one_of({"*", "*", "*", "1", "pay", "TRIM(1 FROM 12)", "EXTRACT(DAY FROM '2024-01-02')"});
  text += " FROM " + source();
  for (auto more = seed.below(3); more > 0; --more) {
    text += one_of({", ", " JOIN ", " STRAIGHT_JOIN ", " CROSS JOIN ", " LEFT JOIN ", " "});
    text += source();
    text += one_of({"", "", " ON 1", " ON (1, 1) = (1, 1)", " ON VALUES(id) IS NULL", " USING (id)",
                    " ON EXISTS (SELECT 1 WHERE 1)"});
  }
  text +=
      one_of({"", "", " WHERE 1", " WHERE 1 IN (SELECT pay FROM fresh.salaries)",
              " GROUP BY 1, fresh.id", " HAVING 1", " ORDER BY 1, fresh.id", " LIMIT 1",
              " UNION SELECT fresh.pay FROM people, fresh.salaries", " UNION TABLE fresh.salaries",
              " WINDOW w AS (ORDER BY fresh.id), fresh.salaries", ", fresh.salaries"});
  return text;
}

TEST_P(mysql_engine_query, reads_no_table_of_a_database_made_since_the_schema_was_read) {
  run_engine(
      {people, two_people, "CREATE DATABASE fresh",
       "CREATE TABLE fresh.salaries(id INT PRIMARY KEY, pay INT)"},
      [&](engine& on) -> task<void> {
        EXPECT_EQ(co_await sql("INSERT INTO fresh.salaries VALUES (1, 987654)"), "");
        std::string why;
        EXPECT_EQ(co_await ask_sql(on, "SELECT * FROM fresh.salaries", {}, &why), "!invalid");
        EXPECT_TRUE(why.starts_with("fresh is not the database of this query")) << why;
        random seed{2026};
        int answered = 0;
        int revealing = 0;  // what the server tells of that, if it is asked by somebody who may
        for (int i = 0; i < 2'000; ++i) {
          const std::string text = drawn_query(seed, 2);
          const std::string told = co_await ask_sql(on, text);
          EXPECT_FALSE(told.contains("987654")) << text << "\n" << told;
          answered += told.starts_with('!') ? 0 : 1;
          revealing += (co_await sql(text)).contains("987654") ? 1 : 0;
        }
        EXPECT_GT(answered, 50);
        EXPECT_GT(revealing, 50);
        EXPECT_EQ(co_await sql("DROP DATABASE fresh"), "");
      });
}

}  // namespace
}  // namespace weft::store::mysql
