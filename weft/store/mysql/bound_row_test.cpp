#include <weft/store/mysql/bound_row.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/with_deadline.hpp>
#include <weft/net/proxy_test.hpp>
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

/// Has the server tell of a VECTOR, as that of MySQL 9 does, where it tells of a LONGBLOB.
class vector_proxy : public net::test_proxy {
 public:
  using test_proxy::test_proxy;

 private:
  task<bool> on_text(said& by, std::string& text) override {
    static constexpr char long_blob = '\xfb';
    static constexpr char vector = '\xf2';
    // The charset of bytes and four bytes of length stand before the type.
    static constexpr std::string_view before{"\x0c\x3f\0", 3};
    static constexpr std::size_t length_bytes = 4;
    if (by.whose == side::client) co_return true;
    for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
      at += before.size() + length_bytes;
      if (at < text.size() && text[at] == long_blob) text[at] = vector;
    }
    co_return true;
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

TEST_P(mysql_row_test, what_the_library_has_no_type_for_comes_as_bytes) {
  vector_proxy proxy{*loop_, server_.unix_socket()};
  loop_->spawn(proxy.serve_one());
  loop_->spawn([](event_loop& loop, net::endpoint where) -> task<void> {
    connection server{loop};
    EXPECT_TRUE(co_await server.open(where, mariadb_server::account()));
    auto select = co_await server.prepare(
        "SELECT 1, CAST(REPEAT('v', seq * 100) AS BINARY) b, 2, 'x' FROM seq_1_to_9 WHERE seq "
        "IN(1, 9)");
    EXPECT_TRUE(select) << server.last_failure().message;
    if (!select) co_return;
    const std::string rows =
        "1 b'" + std::string(100, 'v') + "' 2 'x'|1 b'" + std::string(900, 'v') + "' 2 'x'";
    for (int run = 0; run < 2; ++run) {
      EXPECT_TRUE(co_await server.execute(*select, {}));
      EXPECT_EQ(text_of(*select), rows);
      EXPECT_TRUE(co_await server.begin(*select, {}));
      EXPECT_EQ(select->columns()[1].type, column_type::blob);
      std::string one_by_one;
      while ((co_await server.fetch(*select)).value_or(false))
        for (const value& each : select->row())
          if (each.kind() == value_kind::bytes) one_by_one += each.as_text();
      EXPECT_EQ(one_by_one, std::string(1'000, 'v'));
    }
  }(*loop_, proxy.address()));
  loop_->run();
}

TEST_P(mysql_row_test, rows_that_nobody_may_wait_for_end_their_connection) {
  run([&](connection& server) -> task<void> {
    auto select = co_await server.prepare("SELECT seq FROM seq_1_to_100");
    EXPECT_TRUE(select);
    EXPECT_TRUE(co_await server.begin(*select, {}));
    EXPECT_TRUE((co_await server.fetch(*select)).value_or(false));
    const auto late =
        co_await with_deadline(deadline::at(loop_->now() - std::chrono::milliseconds{1}),
                               [](connection& of, statement& from) -> task<result<bool>> {
                                 co_return co_await of.fetch(from);
                               }(server, *select));
    EXPECT_FALSE(late);
    EXPECT_FALSE(server.is_open()) << "what comes next would be rows";
  });
}

}  // namespace
}  // namespace weft::store::mysql
