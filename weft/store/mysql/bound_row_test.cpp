#include <weft/store/mysql/bound_row.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

struct column_case {
  const char* type;
  const char* literals;  // of an INSERT
  std::string expected;  // in their order
};

class mysql_row_test : public mysql_fixture {
 protected:
  void try_all(const std::vector<column_case>& cases) {
    run([&](connection& server) -> task<void> {
      for (const column_case& each : cases) {
        SCOPED_TRACE(each.type);
        EXPECT_TRUE(co_await server.run("SET sql_mode = ''"));
        EXPECT_TRUE(
            co_await server.run("CREATE OR REPLACE TABLE typed(at INT AUTO_INCREMENT "
                                "PRIMARY KEY, x " +
                                std::string{each.type} + ")"))
            << server.last_failure().message;
        EXPECT_TRUE(
            co_await server.run("INSERT INTO typed(x) VALUES " + std::string{each.literals}))
            << server.last_failure().message;
        EXPECT_EQ(co_await ask(server, "SELECT x FROM typed ORDER BY at"), each.expected);
      }
      EXPECT_TRUE(co_await server.run("DROP TABLE typed"));
    });
  }
};

INSTANTIATE_TEST_SUITE_P(on, mysql_row_test, ::testing::Values(backend_kind::epoll), backend_name);

TEST_P(mysql_row_test, integers_come_whole_to_their_ends) {
  try_all({
      {"TINYINT", "(-128), (127), (NULL)", "-128|127|NULL"},
      {"TINYINT UNSIGNED", "(0), (255)", "0u|255u"},
      {"BOOLEAN", "(TRUE), (FALSE)", "1|0"},
      {"SMALLINT", "(-32768), (32767)", "-32768|32767"},
      {"SMALLINT UNSIGNED", "(65535)", "65535u"},
      {"MEDIUMINT", "(-8388608), (8388607)", "-8388608|8388607"},
      {"MEDIUMINT UNSIGNED", "(16777215)", "16777215u"},
      {"INT", "(-2147483648), (2147483647)", "-2147483648|2147483647"},
      {"INT UNSIGNED", "(4294967295)", "4294967295u"},
      {"INT(6) ZEROFILL", "(42)", "42u"},
      {"BIGINT", "(-9223372036854775808), (9223372036854775807)",
       "-9223372036854775808|9223372036854775807"},
      {"BIGINT UNSIGNED", "(18446744073709551615)", "18446744073709551615u"},
      {"YEAR", "(1901), (2155), (0)", "1901|2155|0"},
      {"BIT(1)", "(0), (1), (NULL)", "0u|1u|NULL"},
      {"BIT(12)", "(2748)", "2748u"},
      {"BIT(64)", "(18446744073709551615)", "18446744073709551615u"},
  });
}

TEST_P(mysql_row_test, numbers_with_a_point_keep_what_they_have) {
  try_all({
      {"FLOAT", "(0.5), (-3.25)", "0.500000|-3.250000"},
      {"DOUBLE", "(1e15), (-0.125), (NULL)", "1000000000000000.000000|-0.125000|NULL"},
      {"DECIMAL(10,2)", "(1.5), (-99999999.99), (0)", "'1.50'|'-99999999.99'|'0.00'"},
      {"DECIMAL(65,30)", "(12345678901234567890123456789012345.123456789012345678901234567891)",
       "'12345678901234567890123456789012345.123456789012345678901234567891'"},
      {"DECIMAL(20,0) UNSIGNED", "(18446744073709551616)", "'18446744073709551616'"},
  });
}

TEST_P(mysql_row_test, days_and_times_come_as_the_server_spells_them) {
  try_all({
      {"DATE", "('2024-02-29'), ('0000-00-00'), ('9999-12-31'), ('1000-01-01')",
       "'2024-02-29'|'0000-00-00'|'9999-12-31'|'1000-01-01'"},
      {"TIME", "('23:59:59'), ('-838:59:59'), ('838:59:59'), ('00:00:00')",
       "'23:59:59'|'-838:59:59'|'838:59:59'|'00:00:00'"},
      {"TIME(6)", "('-00:00:00.000001'), ('01:02:03.5')", "'-00:00:00.000001'|'01:02:03.500000'"},
      {"DATETIME", "('2024-02-29 23:59:59'), ('0000-00-00 00:00:00'), ('2024-01-01')",
       "'2024-02-29 23:59:59'|'0000-00-00 00:00:00'|'2024-01-01 00:00:00'"},
      {"DATETIME(3)", "('2024-01-02 03:04:05.678'), ('2024-01-02')",
       "'2024-01-02 03:04:05.678'|'2024-01-02 00:00:00.000'"},
      {"TIMESTAMP(6) NULL", "('2038-01-01 00:00:00.000001'), (NULL)",
       "'2038-01-01 00:00:00.000001'|NULL"},
  });
}

TEST_P(mysql_row_test, texts_come_in_utf8_and_bytes_as_they_are) {
  try_all({
      {"CHAR(5)", "('ab  '), (''), (NULL)", "'ab'|''|NULL"},
      {"VARCHAR(5) CHARACTER SET utf8mb4", "('ab  '), (CONVERT(X'F09F9880' USING utf8mb4))",
       "'ab  '|'\xF0\x9F\x98\x80'"},
      {"VARCHAR(9) CHARACTER SET latin1", "('Grüße')", "'Grüße'"},
      {"VARCHAR(9) CHARACTER SET utf16", "('Grüße')", "'Grüße'"},
      {"VARCHAR(9) COLLATE utf8mb4_bin", "('A')", "'A'"},
      {"TEXT", "('a'), (REPEAT('b', 5))", "'a'|'bbbbb'"},
      {"LONGTEXT", "(REPEAT('c', 70000))", "'" + std::string(70'000, 'c') + "'"},
      {"ENUM('a','b')", "('b'), (NULL)", "'b'|NULL"},
      {"SET('a','b')", "('b,a'), ('')", "'a,b'|''"},
      {"JSON", R"(('{"a": 1}'))", R"('{"a": 1}')"},
      {"UUID", "('123e4567-e89b-12d3-a456-426655440000')",
       "'123e4567-e89b-12d3-a456-426655440000'"},
      {"INET6", "('::1')", "'::1'"},
      {"BINARY(3)", "('a')", "b'a" + std::string(2, '\0') + "'"},
      {"VARBINARY(3)", "('a'), ('')", "b'a'|b''"},
      {"BLOB", "(X'00FF')", "b'" + std::string{"\0\xff", 2} + "'"},
      {"TINYBLOB", "('x')", "b'x'"},
      {"LONGBLOB", "(REPEAT('d', 70000))", "b'" + std::string(70'000, 'd') + "'"},
  });
}

}  // namespace
}  // namespace weft::store::mysql
