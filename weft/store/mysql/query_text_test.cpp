#include <weft/store/mysql/query_text.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/format.hpp>

namespace weft::store::mysql {
namespace {

const catalog& shop() {
  static const catalog made{[] {
    std::vector<table_definition> tables;
    for (const char* name : {"t", "t2", "a", "b", "people", "user"})
      tables.push_back({.database = "shop", .name = name});
    return std::vector<catalog::database_definition>{
        {"shop", std::move(tables)}, {"Archive", {{.database = "Archive", .name = "old"}}}};
  }()};
  return made;
}

/// The text with its question marks, and how many values there are, or what is wrong with it.
std::string read(std::string_view text, std::vector<query_parameter> parameters = {}) {
  const auto made =
      read_query_text({.database = "shop", .text = text, .parameters = parameters}, shop());
  return made ? made->sql + " | " + std::to_string(made->parameters.size()) : made.error().message;
}

TEST(mysql_query_text, lets_what_reads_through_as_it_is) {
  for (const std::string_view text : {"SELECT 1",
                                      "select a.b from a",
                                      "(SELECT 1)",
                                      "WITH x AS (SELECT 1) SELECT * FROM x",
                                      "VALUES (1)",
                                      "TABLE people",
                                      " \n-- a note\nSELECT 1 -- another",
                                      "# note\nSELECT 1",
                                      "SELECT /* :a @b */ 1",
                                      "SELECT '@x ; '' \\' INTO', \"it\\\"s ? :a\", `a``:b`",
                                      "SELECT shop.t.a FROM shop.t",
                                      "SELECT a.archived FROM a",
                                      "SELECT into_it FROM t",
                                      "SELECT a-- 1\n FROM t",
                                      "SELECT a.into FROM a",
                                      "SELECT sleep FROM t",
                                      "SELECT user, connection_id FROM user",
                                      "SELECT t.current_user, `current_user` FROM t",
                                      "SELECT VERSION(), DATABASE()",
                                      "SELECT x FROM t WHERE a = 'mysql.user'",
                                      "SELECT EXTRACT(DAY FROM d) FROM t",
                                      "SELECT `größe` FROM t",
                                      "SELECT a --1",
                                      "SELECT 1.5, .5, 1., 1e5, 1E-5, 1.5e+5, 0x1F, 0b10 FROM t2",
                                      "SELECT t.größe FROM t",
                                      "SELECT archive.x FROM t archive",
                                      "SELECT shop.t.x, shop.t.* FROM t",
                                      "SELECT People.id FROM PEOPLE",
                                      "SELECT 1 FROM dual",
                                      "SELECT a.id, b.id FROM a, b WHERE a.x = b.y",
                                      "SELECT * FROM (a JOIN b ON a.x = b.y), t",
                                      "SELECT * FROM ((a)), shop.b AS x LEFT JOIN t USING (id)",
                                      "SELECT * FROM a USE INDEX FOR ORDER BY (i), b",
                                      "SELECT * FROM a JOIN b ON (a.x, a.y) = (b.x, b.y)",
                                      "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b, t)",
                                      "SELECT (SELECT MAX(b.x) FROM b), a.y FROM a",
                                      "SELECT * FROM (SELECT 1, 2) AS d(x, y), (VALUES (1)) v (z)",
                                      "SELECT * FROM (TABLE a UNION SELECT b.x FROM b) d",
                                      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT n.i + 1 "
                                      "FROM n WHERE n.i < 9), m AS (SELECT 2) SELECT n.i FROM n, m",
                                      "WITH x AS (SELECT 1) (SELECT a.x FROM a, x) UNION (SELECT 2 "
                                      "FROM x) ORDER BY 1, MOD(2, 3)",
                                      "WITH x (a, b) AS (SELECT 1, 2), y AS (SELECT a FROM x) "
                                      "TABLE y",
                                      "WITH x AS (SELECT 1) SELECT * FROM (WITH x AS (SELECT * "
                                      "FROM x) SELECT * FROM x) d, (SELECT * FROM x) e",
                                      "SELECT * FROM t, JSON_TABLE(t.doc, '$' COLUMNS(i INT PATH "
                                      "'$.i')) j, LATERAL (SELECT 1) l",
                                      "SELECT MATCH (t.a) AGAINST ('x' WITH QUERY EXPANSION), 1 "
                                      "MEMBER OF ('[1]') FROM t",
                                      "SELECT EXTRACT(YEAR FROM t.d), TRIM(' ' FROM t.a) FROM t",
                                      "SELECT a.x, COUNT(*) FROM a GROUP BY a.x, a.y WITH ROLLUP",
                                      "SELECT a.x FROM a ORDER BY a.x, a.y LIMIT 1",
                                      "SELECT CAST(t.x AS DECIMAL(10, 2)) FROM t",
                                      "SELECT SUM(a.x) OVER (PARTITION BY a.y, a.z) FROM a",
                                      "SELECT a.x FROM a WHERE a.x IN (1, 2) AND (a.y OR NOT (1))",
                                      "SELECT `Concat`('a'), JSON_VALUE(t.doc, '$.a') FROM t"})
    EXPECT_EQ(read(text), std::string{text} + " | 0");
}

TEST(mysql_query_text, binds_parameters_by_place_or_by_name) {
  const query_parameter one{.bound = value::integer(1)};
  const query_parameter a{.name = "a", .bound = value::integer(1)};
  const query_parameter b{.name = "b", .bound = value::integer(2)};
  EXPECT_EQ(read("SELECT ?, '?', ?", {one, one}), "SELECT ?, '?', ? | 2");
  EXPECT_EQ(read("SELECT :b+:a*:a", {a, b}), "SELECT ?+?*? | 3");
  EXPECT_EQ(read("SELECT ?"), "the query takes 1 parameters, and 0 are given");
  EXPECT_EQ(read("SELECT 1", {one}), "the query takes 0 parameters, and 1 are given");
  EXPECT_EQ(read("SELECT :a", {b}), "no value is given for the parameter :a");
  EXPECT_EQ(read("SELECT :a", {a, b}), "the query has no parameter named b");
  EXPECT_EQ(read("SELECT ?", {a}), "parameter 1 has no name: give a list of values");
}

TEST(mysql_query_text, refuses_patterns_that_no_server_can_stop) {
  const std::string reason = " is not allowed in a query, since no server can stop it: use LIKE";
  EXPECT_EQ(read("SELECT 'a' REGEXP 'b'"), "REGEXP" + reason);
  EXPECT_EQ(read("SELECT t.a NOT RLIKE('b') FROM t"), "RLIKE" + reason);
  for (const std::string_view function :
       {"REGEXP_LIKE", "regexp_instr", "REGEXP_SUBSTR", "REGEXP_REPLACE", "EXTRACTVALUE",
        "UpdateXML", "JSON_SEARCH", "JSON_SCHEMA_VALID"})
    EXPECT_EQ(read(weft::format("SELECT {}('a', 'b')", function)),
              weft::format("the function {}() is not allowed in a query", function));
  EXPECT_EQ(read("SELECT t.regexp, `rlike` FROM t"), "SELECT t.regexp, `rlike` FROM t | 0");
}

TEST(mysql_query_text, refuses_what_does_more_than_read) {
  for (const std::string_view text : {"",
                                      "  -- nothing",
                                      "DELETE FROM t",
                                      "'SELECT'",
                                      "`select`",
                                      "1",
                                      "SELECT @a",
                                      "SELECT @@x",
                                      "SELECT 1 INTO OUTFILE 'x'",
                                      "SELECT 1 into @a",
                                      "SELECT a FROM t FOR UPDATE",
                                      "SELECT a FROM t for/**/share",
                                      "SELECT a FROM t LOCK IN SHARE MODE",
                                      "SELECT SLEEP(1)",
                                      "SELECT sleep /* */ (1)",
                                      "SELECT `Sleep`(1)",
                                      "SELECT LOAD_FILE('x')",
                                      "SELECT NEXT VALUE FOR s",
                                      "SELECT previous value FOR s",
                                      "SELECT NEXTVAL(s)",
                                      "SELECT /*! SLEEP(1) */",
                                      "SELECT /*M! 1 */",
                                      "SELECT /*+ MAX_EXECUTION_TIME(1) */ 1",
                                      "SELECT 'a",
                                      "SELECT \"a",
                                      "SELECT `a",
                                      "SELECT /* a",
                                      "SELECT '\\'",
                                      "SELECT * FROM mysql.user",
                                      "SELECT * FROM `MySQL`.user",
                                      "SELECT * FROM `a``b`.t",
                                      "SELECT * FROM `GRÖSSE`.t",
                                      "SELECT * FROM --\x7f '\n mysql.user #'",
                                      "SELECT * FROM archive -- x\n . t",
                                      "SELECT archive.f()",
                                      "SELECT * FROM t PROCEDURE ANALYSE()",
                                      "SELECT get_lock('a', 1)",
                                      "SELECT CURRENT_USER",
                                      "SELECT Current_User()",
                                      "SELECT current_role",
                                      "SELECT mariadb_schema.current_user()",
                                      "SELECT USER()",
                                      "SELECT `user` ()",
                                      "SELECT SESSION_USER()",
                                      "SELECT SYSTEM_USER()",
                                      "SELECT CONNECTION_ID()",
                                      "SELECT mariadb_schema.get_lock('x', 0)",
                                      "SELECT oracle_schema . `sleep`(9)",
                                      "SELECT id FROM t WHERE 1.LOCK IN SHARE MODE",
                                      "SELECT id FROM t WHERE 1. LOCK IN SHARE MODE",
                                      "SELECT id FROM t WHERE 1.e5LOCK IN SHARE MODE",
                                      "SELECT id FROM t WHERE a < 1e5LOCK IN SHARE MODE",
                                      "SELECT id FROM t WHERE a < .5LOCK IN SHARE MODE",
                                      "SELECT id FROM t WHERE 0x1gLOCK IN SHARE MODE",
                                      "SELECT 1e5INTO OUTFILE 'f'",
                                      "SELECT * FROM `#mysql50#archive`.t"}) {
    const std::string told = read(text);
    EXPECT_EQ(told.find(" | "), std::string::npos) << text << ": " << told;
  }
  EXPECT_EQ(read(std::string_view{"SELECT 1\0", 9}),
            "the query has a NUL, at byte 8: bind such a value to a parameter");
  EXPECT_EQ(read(std::string(query_bytes_max + 1, ' ')),
            "the query has 65537 bytes; at most 65536 are allowed");
}

TEST(mysql_query_text, reads_tables_of_the_catalog_alone) {
  for (const std::string_view text :
       {"SELECT * FROM fresh.t",
        "SELECT * FROM a, fresh.t",
        "SELECT fresh.x FROM t fresh, fresh.t",
        "SELECT * FROM a JOIN fresh.t",
        "SELECT * FROM a STRAIGHT_JOIN fresh.t",
        "SELECT * FROM a JOIN b ON a.x = b.x, fresh.t",
        "SELECT * FROM a JOIN b ON VALUES(b.x) IS NULL, fresh.t",
        "SELECT * FROM a JOIN b ON 1 = 1, (fresh.t)",
        "SELECT * FROM ((fresh.t))",
        "SELECT * FROM (a, fresh.t)",
        "SELECT * FROM a USE INDEX FOR ORDER BY (i), fresh.t",
        "SELECT * FROM a FORCE INDEX FOR GROUP BY (i), fresh.t",
        "SELECT * FROM a FOR SYSTEM_TIME ALL, fresh.t",
        "SELECT * FROM a offset, fresh.t",
        "SELECT * FROM a window, fresh.t",
        "SELECT * FROM a `where`, fresh.t",
        "SELECT * FROM shop.a where2, fresh.t",
        "SELECT * FROM { OJ fresh.t LEFT OUTER JOIN a ON 1 }",
        "SELECT * FROM --\n fresh /* */ . t",
        "SELECT * FROM `fresh`.`t`",
        "SELECT * FROM .t",
        "SELECT * FROM lateral.t",
        "SELECT * FROM Archive.old",
        "SELECT * FROM Shop.t",
        "SELECT * FROM `shop `.t",
        "SELECT * FROM shop.nosuch",
        "SELECT * FROM nosuch",
        "SELECT * FROM seq_1_to_9",
        "SELECT 1 UNION SELECT x FROM fresh.t",
        "SELECT (SELECT x FROM fresh.t)",
        "SELECT 1 WHERE 1 IN (TABLE fresh.t)",
        "TABLE fresh.t",
        "WITH x AS (SELECT * FROM fresh.t) SELECT * FROM x",
        "WITH x AS (SELECT 1) TABLE fresh.t",
        "WITH x AS (SELECT 1), y AS (SELECT 1) SELECT * FROM z",
        "WITH x AS (SELECT 1) SELECT * FROM x, fresh.t",
        "WITH x AS (SELECT * FROM x) SELECT * FROM x",
        "WITH y AS (SELECT 1), x (a) AS (SELECT * FROM x) SELECT * FROM x",
        "WITH x AS (SELECT 1) SELECT * FROM shop.x",
        "WITH X AS (SELECT 1) SELECT * FROM x",
        "SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) d, x",
        "(WITH x AS (SELECT 1) SELECT * FROM x) UNION SELECT * FROM x",
        "WITH x AS (SELECT 1) (SELECT 1) ORDER BY 1, y LIMIT 1 UNION SELECT * FROM y",
        "WITH RECURSIVE x AS (SELECT 1) SELECT * FROM recursive",
        "SELECT * FROM shop.dual",
        "SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) y, fresh.t",
        "SELECT * FROM (SELECT * FROM a LIMIT 1) x, fresh.t",
        "SELECT TRIM(SELECT x FROM fresh.t)",
        "SELECT TRIM((SELECT x FROM fresh.t))"}) {
    const std::string told = read(text);
    EXPECT_EQ(told.find(" | "), std::string::npos) << text << ": " << told;
  }
  EXPECT_EQ(
      read("SELECT * FROM fresh.t"),
      "fresh is not the database of this query: it may read the tables of shop alone, written "
      "like that");
  EXPECT_EQ(read("SELECT * FROM nosuch"),
            "nosuch is no table of shop that is served: views are not, and a new table is once the "
            "schema has been read again");
}

TEST(mysql_query_text, calls_functions_of_the_list_alone) {
  for (const std::string_view text :
       {"SELECT wsrep_sync_wait_upto_gtid('0-0-0', 9)",
        "SELECT `wsrep_last_seen_gtid`()",
        "SELECT master_pos_wait('a', 1)",
        "SELECT f(1)",
        "SELECT shop.f(1)",
        "SELECT fresh.f(1)",
        "SELECT mariadb_schema.concat('a')",
        "SELECT * FROM f(1)",
        "SELECT spider_direct_sql('SELECT 1', 't', 'host \"h\"')",
        "SELECT sys_exec('id')",
        "SELECT `in`(1)",
        "SELECT 1 IN (sleep(1))",
        "SELECT (1) + sleep(1)",
        "SELECT ROW_COUNT()",
        "WITH x AS (SELECT 1) (SELECT 1) ORDER BY 1, sleep(1)",
        "WITH x AS (SELECT 1) (SELECT 1) UNION (SELECT 2) ORDER BY (1), sleep(1)",
        "WITH x AS (SELECT 1) VALUES (1), (2) ORDER BY 1, sleep(1)",
        "WITH x AS (SELECT 1) TABLE t ORDER BY a, sleep(1)",
        "SELECT next(1)",
        "SELECT 1, lateral(1)",
        "SELECT of(1)",
        "SELECT columns(1) FROM t",
        "SELECT a FROM t ORDER BY rollup(1)",
        "SELECT a, against(1) FROM t",
        "SELECT FOUND_ROWS()",
        "SELECT LAST_INSERT_ID()",
        "SELECT ps_current_thread_id()"}) {
    const std::string told = read(text);
    EXPECT_EQ(told.find(" | "), std::string::npos) << text << ": " << told;
  }
  EXPECT_EQ(read("SELECT Sleep(1)"), "the function Sleep() is not allowed in a query");
  EXPECT_EQ(read("SELECT shop.f(1)"),
            "f() is called by a database's name: functions are allowed by their own names alone");
}

TEST(mysql_query_text, says_what_kind_of_fault_it_is) {
  const auto fault = [](std::string_view text) {
    const auto made = read_query_text({.database = "shop", .text = text}, shop());
    return made ? query_fault::none : made.error().of;
  };
  EXPECT_EQ(fault("SELECT x FROM t"), query_fault::none);
  constexpr std::string_view no_sql[] = {"",          " -- nothing", "SELEC 1",
                                         "SELECT 'x", "SELECT 1a",   std::string_view{"\0", 1}};
  for (const std::string_view text : no_sql) EXPECT_EQ(fault(text), query_fault::syntax) << text;
  for (const std::string_view text :
       {"SELECT x FROM none", "SELECT x FROM t JOIN none", "SELECT x FROM other.t", "SELECT ?"})
    EXPECT_EQ(fault(text), query_fault::semantic) << text;
  for (const std::string_view text :
       {"DELETE FROM t", "explain SELECT 1", "SELECT SLEEP(1)",
        "SELECT x FROM t WHERE BENCHMARK(1, 1)", "SELECT x FROM t FOR UPDATE", "SELECT @a",
        "SELECT x INTO OUTFILE 'y' FROM t"})
    EXPECT_EQ(fault(text), query_fault::unsupported) << text;
  EXPECT_EQ(fault("SELECT 1" + std::string(query_bytes_max, ' ')), query_fault::limit);
}

}  // namespace
}  // namespace weft::store::mysql
