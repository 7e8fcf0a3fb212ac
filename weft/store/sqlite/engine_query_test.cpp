// Queries in SQL: what they find, what they may not do, and what ends them.
#include <weft/store/sqlite/engine.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/json_value.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/handle.hpp>

namespace weft::store::sqlite {
namespace {

/// "id,name|1,\"Ada\"|2,null": the columns, and the rows.
class noting_query_sink final : public query_sink {
 public:
  void columns(std::span<const column> given) override {
    EXPECT_TRUE(text.empty()) << "once, and first";
    columns_ = given;
    for (const column& each : given) text += (text.empty() ? "" : ",") + each.name;
  }
  bool row(std::span<const value> values) override {
    EXPECT_EQ(values.size(), columns_.size());
    text += '|';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) text += ',';
      append_json(values[i], columns_[i], text);
    }
    return ++rows < enough;
  }
  void failed(const failure& why) override {
    text += '!';
    text += why.message;
    last_kind = why.kind;
  }

  std::string text;
  std::size_t rows = 0;
  std::size_t enough = 1'000'000;
  failure_kind last_kind = failure_kind::other;

 private:
  std::span<const column> columns_;
};

constexpr const char* shop_rows =
    "CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(50), balance DECIMAL(10,2), photo "
    "BLOB,"
    " seen DATETIME(3), big BIGINT UNSIGNED);"
    "INSERT INTO people VALUES(1,'Ada',12.5,x'00ff10','2026-01-02 03:04:05',x'ffffffffffffffff'),"
    " (2,NULL,NULL,NULL,NULL,3);"
    "CREATE TABLE many(id INTEGER PRIMARY KEY, a INT);"
    "INSERT INTO many WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<1000)"
    " SELECT x,x*2 FROM c;";
constexpr std::string_view endless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";

class engine_query : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    make_database("shop", shop_rows);
  }
  static task<std::string> ask(engine& in, std::string_view text,
                               std::vector<query_parameter> parameters = {},
                               std::size_t rows_max = 1000) {
    noting_query_sink sink;
    const auto told = co_await in.query(
        {.database = "shop", .text = text, .parameters = parameters, .rows_max = rows_max}, sink);
    if (!told) co_return told.error().message();
    co_return sink.text + (*told ? "" : " cut");
  }
  /// It fails, as something invalid, for a reason in which `words` are.
  static task<void> expect_refused(engine& in, std::string_view text, std::string_view words,
                                   std::vector<query_parameter> parameters = {}) {
    noting_query_sink sink;
    const auto told =
        co_await in.query({.database = "shop", .text = text, .parameters = parameters}, sink);
    EXPECT_TRUE(told && !*told) << text;
    EXPECT_EQ(sink.last_kind, failure_kind::invalid) << text << ": " << sink.text;
    EXPECT_TRUE(sink.text.starts_with('!') && sink.text.contains(words))
        << text.substr(0, 200) << sink.text;
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, engine_query,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

/// Ends its turn after each row.
struct turns_sink final : query_sink {
  explicit turns_sink(event_loop& on) noexcept : loop{on} {}
  void columns(std::span<const column>) override {}
  bool row(std::span<const value>) override {
    turns.push_back(loop.turns());
    return true;
  }
  void failed(const failure& why) override { ADD_FAILURE() << why.message; }
  [[nodiscard]] bool is_turn_over() override { return true; }
  event_loop& loop;
  std::vector<std::uint64_t> turns;
};

TEST_P(engine_query, yields_between_two_rows) {
  run([&](engine& shop) -> task<void> {
    turns_sink sink{*loop_};
    const auto told = co_await shop.query(
        {.database = "shop", .text = "SELECT id FROM many WHERE id <= 300"}, sink);
    EXPECT_TRUE(told.value_or(false));
    EXPECT_EQ(sink.turns.size(), 300U);
    // A turn may take the next slice from a thread, with a row, before it runs what is ready.
    for (std::size_t i = 2; i < sink.turns.size(); ++i)
      EXPECT_GT(sink.turns[i], sink.turns[i - 2]) << i;
  });
}

TEST_P(engine_query, tells_columns_as_they_are_declared_and_the_rest_as_it_is) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await ask(shop, "SELECT * FROM people ORDER BY id"),
              "id,name,balance,photo,seen,big|1,\"Ada\",12.50,\"AP8Q\",\"2026-01-02 03:04:05.000\","
              "18446744073709551615|2,null,null,null,null,3");
    EXPECT_EQ(
        co_await ask(shop, "SELECT 1+1 AS two, 0.5 AS half, 'a'||'b' AS t, x'00ff' AS b, NULL"),
        "two,half,t,b,NULL|2,0.5,\"ab\",\"AP8=\",null");
    EXPECT_EQ(co_await ask(shop, "SELECT id, id, max(a) AS id FROM many -- and no more;"),
              "id,id:1,id:2|1000,1000,2000");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM people WHERE 0;  "), "id");
    EXPECT_EQ(counted("store_queries_total"), 4);
    EXPECT_EQ(counted("store_query_rows_total"), 4);
    EXPECT_EQ(counted("store_query_duration_ns"), 4);
  });
}

TEST_P(engine_query, binds_by_place_and_by_name) {
  run([&](engine& shop) -> task<void> {
    const std::vector<query_parameter> two{{.bound = value::integer(1)},
                                           {.bound = value::text("Ada' OR 1=1 --")}};
    EXPECT_EQ(co_await ask(shop, "SELECT id, ? AS t FROM people WHERE id=?",
                           {{.bound = value::text("x")}, {.bound = value::integer(2)}}),
              "id,t|2,\"x\"");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM people WHERE id=?1 AND name=?2", two), "id");
    EXPECT_EQ(co_await ask(shop, "SELECT :a AS a, @b AS b, $c AS c, :a AS d",
                           {{"b", value::real(0.5)}, {"a", value{}}, {"c", value::integer(-7)}}),
              "a,b,c,d|null,0.5,-7,null");
    co_await expect_refused(shop, "SELECT ?, ?", "takes 2 parameters, and 1 are given",
                            {{.bound = value{}}});
    co_await expect_refused(shop, "SELECT 1", "takes 0 parameters, and 1", {{.bound = value{}}});
    co_await expect_refused(shop, "SELECT :a, :b", "no value is given for the parameter :b",
                            {{"a", value{}}});
    co_await expect_refused(shop, "SELECT :a", "no parameter named c",
                            {{"a", value{}}, {"c", value{}}});
    co_await expect_refused(shop, "SELECT ?", "has no name", {{"a", value{}}});
  });
}

TEST_P(engine_query, only_reads) {
  run([&](engine& shop) -> task<void> {
    for (const std::string_view each :
         {"INSERT INTO people(id) VALUES(9)", "DELETE FROM people", "UPDATE people SET name=NULL",
          "INSERT INTO people(id) VALUES(9) RETURNING id", "CREATE TABLE t(a)",
          "CREATE TEMP TABLE t(a)", "DROP TABLE people", "ATTACH 'other.db' AS other", "VACUUM",
          "PRAGMA journal_mode", "PRAGMA query_only=0", "BEGIN IMMEDIATE", "SAVEPOINT s", "REINDEX",
          "ANALYZE", "EXPLAIN DELETE FROM people"})
      co_await expect_refused(shop, each, "may only read");
    co_await expect_refused(shop, "SELECT * FROM pragma_table_info('people')", "not authorized");
    co_await expect_refused(shop, "SELECT load_extension('/tmp/x.so')", "load_extension");
    co_await expect_refused(shop, "SELECT 1; DELETE FROM people", "one statement");
    co_await expect_refused(shop, "SELECT 1; SELECT 2", "one statement");
    co_await expect_refused(shop, "SELECT 1; nonsense", "one statement");
    co_await expect_refused(shop, "", "the query is empty");
    co_await expect_refused(shop, " -- nothing", "the query is empty");
    co_await expect_refused(shop, "SELECT * FROM nobody", "no such table: nobody");
    co_await expect_refused(shop, "SELEC 1", "syntax error");
    co_await expect_refused(shop, std::string(65'536, ' ') + "SELECT 1", "65536 are allowed");
    co_await expect_refused(shop, std::string_view{"SELECT 'a\0b'", 12}, "NUL, at byte 9");
    co_await expect_refused(shop, "SELECT zeroblob(2000000)",
                            "too big: a query takes values of at most 1048576");
    co_await expect_refused(shop, "SELECT abs(-9223372036854775808)", "overflow");
    EXPECT_EQ(co_await ask(shop, "SELECT count(*) AS n FROM people"), "n|2");
    EXPECT_TRUE((co_await ask(shop, "EXPLAIN QUERY PLAN SELECT * FROM people WHERE id=1"))
                    .contains("SEARCH people"));
    EXPECT_FALSE(std::filesystem::exists("other.db"));
  });
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// x0, x1 ... in which each select reads from the one before: `{}` stands for that one's name.
std::string named_selects(int count, std::string_view select) {
  std::string text = "WITH x0(a) AS (SELECT 1)";
  for (int i = 0; i < count; ++i) {
    std::string each{select};
    const std::string last = "x" + std::to_string(i);
    for (std::size_t at = each.find("{}"); at != each.npos; at = each.find("{}"))
      each.replace(at, 2, last);
    text += ",x" + std::to_string(i + 1) + "(a) AS (" + each + ")";
  }
  return text + " SELECT * FROM x" + std::to_string(count);
}

TEST_P(engine_query, is_as_deep_as_a_stack_allows) {
  run([&](engine& shop) -> task<void> {
    co_await expect_refused(
        shop, repeated("select*from(", 2000) + "select 1" + repeated(" union all select 1)", 2000),
        "2000 parentheses within each other; at most 100");
    co_await expect_refused(shop, "SELECT 1" + repeated(" UNION ALL SELECT 1", 100),
                            "101 SELECTs; at most 100");
    for (const std::string_view each : {"not ", "- ", "~", "case when "})
      co_await expect_refused(shop, "SELECT " + repeated(each, 5000) + "1", "");
    // One after the other, and each within the next.
    co_await expect_refused(shop, named_selects(30, "SELECT a" + repeated("+1", 900) + " FROM {}"),
                            "maximum depth");
    EXPECT_EQ(co_await ask(shop, named_selects(30, "SELECT a" + repeated("+1", 120) + " FROM {}")),
              "a|3601");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM people WHERE id=1" + repeated(" OR id=7", 900)),
              "id|1");
    EXPECT_EQ(co_await ask(shop, "SELECT " + repeated("(", 30) + "1" + repeated(")", 30) + " AS a"),
              "a|1");
  });
}

TEST_P(engine_query, takes_so_much_memory) {
  options_.query_memory_bytes = 8 * 1024 * 1024;
  run([&](engine& shop) -> task<void> {
    for (const std::string& each :
         {named_selects(22, "SELECT p.a FROM {} p, {} q"), named_selects(40, "SELECT a+a FROM {}"),
          std::string{"SELECT DISTINCT a.id * 1000 + b.id FROM many a, many b ORDER BY 1"},
          std::string{"SELECT a.id FROM many a, many b ORDER BY a.a+b.id, b.a"}})
      co_await expect_refused(shop, each, "needs too much memory: at most 8 MiB");
    EXPECT_EQ(co_await ask(shop, "SELECT count(*) AS n FROM many a, many b"), "n|1000000");
  });
}

/// What bounds a query bounds no schema.
TEST_P(engine_query, reads_what_others_have_made) {
  std::string wide = "CREATE TABLE wide(id INTEGER PRIMARY KEY";
  for (int i = 0; i < 400; ++i) wide += ", c" + std::to_string(i) + " INT";
  run_sql("shop", wide + "); INSERT INTO wide(id, c399) VALUES(1, 7);" +
                      "CREATE VIEW deep AS SELECT id" + repeated("+1", 500) + " AS n FROM people;" +
                      "CREATE VIRTUAL TABLE words USING fts5(said);"
                      "INSERT INTO words VALUES('to be'), ('or not');"
                      "CREATE VIRTUAL TABLE places USING rtree(id, west, east);"
                      "INSERT INTO places VALUES(1, 0, 10), (2, 20, 30);");
  run([&](engine& shop) -> task<void> {
    const std::string selects = repeated("SELECT 1 UNION ALL ", 50);
    EXPECT_EQ(co_await ask(shop, "SELECT c399 FROM wide WHERE id IN (" + selects + "SELECT 1)"),
              "c399|7");
    EXPECT_EQ(co_await ask(shop, "SELECT value AS v FROM json_each('[1,\"a\"]')"), "v|1|\"a\"");
    EXPECT_EQ(
        co_await ask(shop, "SELECT fullkey FROM json_tree('{\"a\":[1]}') WHERE type='integer'"),
        "fullkey|\"$.a[0]\"");
    EXPECT_EQ(co_await ask(shop, "SELECT rowid AS r, said FROM words WHERE words MATCH 'not'"),
              "r,said|2,\"or not\"");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM places WHERE west <= 25 AND east >= 25"), "id|2");
    run_sql("shop", "INSERT INTO words VALUES('not to be'); DROP TABLE wide; CREATE TABLE wide(a)");
    EXPECT_EQ(co_await ask(shop, "SELECT count(*) AS n FROM words WHERE words MATCH 'not'"), "n|2");
    EXPECT_EQ(co_await ask(shop, "SELECT * FROM wide"), "a");
    co_await expect_refused(shop, "PRAGMA data_version", "may only read");
  });
}

TEST_P(engine_query, has_rows_and_parameters_of_bounded_size) {
  run([&](engine& shop) -> task<void> {
    co_await expect_refused(shop, "SELECT 1" + repeated(",1", 512),
                            "the result has 513 columns; at most 512");
    EXPECT_TRUE((co_await ask(shop, "SELECT 1" + repeated(",1", 511))).contains(",1:511|1,1"));
    co_await expect_refused(shop, named_selects(14, "SELECT a+abs(a) FROM {}"),
                            "too long a program");
    const std::string wide = "hex(zeroblob(500000))";
    EXPECT_GT((co_await ask(shop, "SELECT " + wide + repeated("," + wide, 3))).size(), 4'000'000U);
    co_await expect_refused(shop, "SELECT " + wide + repeated("," + wide, 4),
                            "a row of the result has 5000000 bytes; at most 4194304");
    co_await expect_refused(shop, "SELECT ?1001", "variable number must be between");
    co_await expect_refused(shop, "SELECT max(0" + repeated(",?", 50) + ")", "takes 50 parameters");
    std::vector<query_parameter> many(50'000, {"a", value{}});
    EXPECT_EQ(co_await ask(shop, "SELECT :a AS a, @a AS b", many), "a,b|null,null");
  });
}

/// Nobody looks at the clock within one call of a function.
TEST_P(engine_query, has_no_function_that_takes_long) {
  run([&](engine& shop) -> task<void> {
    const std::string text = "(SELECT replace(hex(zeroblob(500000)),'0','a'))";
    EXPECT_EQ(co_await ask(shop, "SELECT instr(" + text + ",substr(" + text + ",2)||'b') AS i"),
              "i|0");
    co_await expect_refused(shop, "SELECT " + text + " LIKE '%" + std::string(100, 'a') + "'",
                            "pattern too complex");
    co_await expect_refused(shop, "SELECT json_patch('{}','{}')", "not authorized");
  });
}

/// Values that are larger than those that a query may make are read by key.
TEST_P(engine_query, leaves_large_values_to_reads_by_key) {
  run_sql("shop", "INSERT INTO people(id, photo) VALUES(7, zeroblob(2000000))");
  run([&](engine& shop) -> task<void> {
    co_await expect_refused(shop, "SELECT photo FROM people WHERE id=7", "read the row by its key");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM people WHERE id>=7"), "id|7");
    EXPECT_GT((co_await look_up(shop, "shop", "people", {value::integer(7)}, {"photo"})).size(),
              2'000'000U);
  });
}

TEST_P(engine_query, calls_functions_that_compute_alone) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await ask(shop,
                           "SELECT count(*) AS n, upper('a') AS u, iif(1, 2, 3) AS i, "
                           "json_extract('{\"a\":[7]}', '$.a[0]') AS j, '[8]'->>0 AS k, "
                           "'Ab' LIKE 'aB' AS l FROM people"),
              "n,u,i,j,k,l|2,\"A\",2,7,8,1");
    for (const std::string_view each :
         {"sqlite_compileoption_get(1)", "sqlite_log(1,'x')", "changes()",
          "fts3_tokenizer('simple')", "fts5(NULL)", "rtreecheck('t')"})
      co_await expect_refused(shop, "SELECT " + std::string{each}, "function: ");
  });
}

TEST_P(engine_query, leaves_the_connection_to_others_as_it_was) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await ask(shop, "SELECT 1 AS a"), "a|1");
    // The schema is read by PRAGMAs, on the same connections.
    run_sql("shop", "CREATE TABLE late(a INT PRIMARY KEY)");
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_NE(shop.schema()->find("shop", "late"), nullptr);
    EXPECT_EQ(co_await ask(shop, "SELECT count(*) AS n FROM late"), "n|0");
  });
}

TEST_P(engine_query, tells_so_many_rows_as_are_wanted) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM many LIMIT 2", {}, 2), "id|1|2");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM many", {}, 2), "id|1|2 cut");
    EXPECT_EQ(co_await ask(shop, "SELECT id FROM many", {}, 0), "id cut");
    noting_query_sink all;
    EXPECT_TRUE(
        (co_await shop.query({.database = "shop", .text = "SELECT * FROM many"}, all)).value());
    EXPECT_EQ(all.rows, 1000U);
    EXPECT_TRUE(all.text.ends_with("|1000,2000"));
    noting_query_sink some;
    some.enough = 300;
    EXPECT_FALSE(
        (co_await shop.query({.database = "shop", .text = "SELECT * FROM many"}, some)).value());
    EXPECT_EQ(some.rows, 300U);
    // All, though it has enough with the last of them, within what is found at once or at its end.
    for (const std::size_t count : {256U, 300U}) {
      noting_query_sink last;
      last.enough = count;
      const std::string text = "SELECT * FROM many LIMIT " + std::to_string(count);
      EXPECT_TRUE((co_await shop.query({.database = "shop", .text = text}, last)).value()) << count;
    }
  });
}

TEST_P(engine_query, tells_clients_of_no_folder) {
  for (const std::string_view file : {"none.db", "pipe.db"}) {
    const std::string path = folder_ + "/" + std::string{file};
    if (file == "pipe.db") std::filesystem::create_directory(path);
    const auto opened = connection::open(path, sqlite::access::read_only);
    EXPECT_TRUE(!opened && opened.error().starts_with(file)) << opened.error();
  }
}

TEST_P(engine_query, is_of_a_database_that_there_is) {
  run([&](engine& shop) -> task<void> {
    noting_query_sink sink;
    const auto told = co_await shop.query({.database = "none", .text = "SELECT 1"}, sink);
    EXPECT_EQ(told.error(), errc::not_found);
  });
}

TEST_P(engine_query, ends_in_time) {
  if (GetParam() == backend_kind::simulated) GTEST_SKIP() << "time passes on threads alone";
  options_.query_time = std::chrono::milliseconds{20};
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await ask(shop, endless), error{errc::timed_out}.message());
    EXPECT_EQ(co_await ask(shop, "SELECT 1 AS a"), "a|1") << "its connection is of use";
  });
  options_.query_time = std::chrono::hours{1};
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await with_timeout(std::chrono::milliseconds{20}, ask(shop, endless)),
              error{errc::timed_out}.message());
  });
}

TEST_P(engine_query, ends_when_nobody_wants_it_any_more_and_so_many_wait) {
  if (GetParam() == backend_kind::simulated) GTEST_SKIP() << "queries would end at once";
  options_.query_time = std::chrono::hours{1};
  options_.queries_max = 1;
  options_.queries_waiting_max = 1;
  run([&](engine& shop) -> task<void> {
    std::vector<std::string> told(2);
    const auto note = [&](std::size_t which) -> task<void> {
      told[which] = co_await ask(shop, endless);
    };
    scope asked{co_await this_task::environment()};
    asked.spawn(note(0));
    asked.spawn(note(1));
    co_await next_turn();
    EXPECT_EQ(co_await ask(shop, "SELECT 1"), error{errc::limit_exceeded}.message());
    asked.request_stop();
    co_await asked.join();
    EXPECT_EQ(told[0], error{errc::cancelled}.message());
    EXPECT_EQ(told[1], error{errc::cancelled}.message());
    EXPECT_EQ(co_await ask(shop, "SELECT 1 AS a"), "a|1");
  });
}

}  // namespace
}  // namespace weft::store::sqlite
