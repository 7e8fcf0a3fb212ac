#include <weft/store/mysql/query_text.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

const std::vector<std::string> other_databases{"mysql", "Archive", "a`b", "größe"};

/// The text with its question marks, and how many values there are, or what is wrong with it.
std::string read(std::string_view text, std::vector<query_parameter> parameters = {}) {
  const auto made = read_query_text({.database = "shop", .text = text, .parameters = parameters},
                                    other_databases);
  return made ? made->sql + " | " + std::to_string(made->parameters.size()) : made.error();
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
                                      "SELECT t.größe FROM t"})
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
  EXPECT_EQ(read("SELECT * FROM archive.t"),
            "archive is another database: a query reads the tables of its own (shop); if it is an "
            "alias, name it otherwise");
}

}  // namespace
}  // namespace weft::store::mysql
