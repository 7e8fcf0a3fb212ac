#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_engine_scan : public engine_fixture {
 protected:
  /// All parts of a scan, whose request is for so many rows at a time.
  static task<std::string> scan_all(engine& on, scan_request request) {
    std::string all;
    std::string token;
    do {
      request.continuation = token;
      noted_scan sink{request};
      auto rest = co_await on.scan(request, sink);
      if (!rest) co_return rest.error().message();
      all += all.empty() || sink.text.empty() ? sink.text : " " + sink.text;
      token = std::move(*rest);
    } while (!token.empty());
    co_return all;
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_scan, kernel_backends, backend_name);

constexpr std::string_view goods =
    "CREATE TABLE t(a INT, b VARCHAR(5), n INT, PRIMARY KEY(a,b), KEY by_n(n))";
constexpr std::string_view some_goods =
    "INSERT INTO t VALUES(1,'a',NULL),(1,'b',5),(2,'A',5),(2,'c',NULL),(3,'x',1)";

TEST_P(mysql_engine_scan, goes_along_an_index_in_parts_either_way) {
  run_engine({goods, some_goods}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    const column_position columns[] = {0, 1};
    for (const std::size_t limit : {1U, 2U, 3U, 100U}) {
      scan_request request{.from = &t, .columns = columns, .limit = limit};
      EXPECT_EQ(co_await scan_all(on, request), R"([1,"a"] [1,"b"] [2,"A"] [2,"c"] [3,"x"])");
      request.is_descending = true;
      EXPECT_EQ(co_await scan_all(on, request), R"([3,"x"] [2,"c"] [2,"A"] [1,"b"] [1,"a"])");
      request.index = 0;
      EXPECT_EQ(co_await scan_all(on, request), R"([2,"A"] [1,"b"] [3,"x"] [2,"c"] [1,"a"])");
      request.is_descending = false;
      EXPECT_EQ(co_await scan_all(on, request), R"([1,"a"] [2,"c"] [3,"x"] [1,"b"] [2,"A"])");
    }
  });
}

TEST_P(mysql_engine_scan, finds_what_filters_and_ranges_say) {
  run_engine({goods, some_goods}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    const column_position columns[] = {0, 1};
    const filter null{.kind = filter_kind::is_null, .column = 2};
    const filter small{.kind = filter_kind::less, .column = 2, .with = value::integer(5)};
    const filter either{.kind = filter_kind::either, .left = &null, .right = &small};
    const filter neither{.kind = filter_kind::neither, .left = &null, .right = &small};
    scan_request request{.from = &t, .columns = columns, .where = &either, .limit = 2};
    EXPECT_EQ(co_await scan_all(on, request), R"([1,"a"] [2,"c"] [3,"x"])");
    request.where = &neither;
    EXPECT_EQ(co_await scan_all(on, request), R"([1,"b"] [2,"A"])");
    request.where = nullptr;
    const value lower[] = {value::integer(1), value::text("a")};
    const value upper[] = {value::integer(2), value::text("a")};
    const value three[] = {value::integer(3)};
    const key_range ranges[] = {{{lower, false}, {upper, true}}, {{three, true}, {}}};
    request.ranges = ranges;
    EXPECT_EQ(co_await scan_all(on, request), R"([1,"b"] [2,"A"] [3,"x"])");
    const filter bad{.kind = filter_kind::equal, .column = 1, .with = value::text("b")};
    request.where = &bad;
    EXPECT_EQ(co_await scan_all(on, request), R"([1,"b"])");
    request.limit = 0;
    EXPECT_EQ(co_await scan_all(on, request), "");
    request.limit = 1;
    request.continuation = "AAAA";
    noted_scan sink{request};
    EXPECT_EQ((co_await on.scan(request, sink)).error(), errc::invalid_argument);
  });
}

TEST_P(mysql_engine_scan, goes_on_in_the_same_order_by_values_of_any_type) {
  for (const auto& [type, values] :
       {std::pair{"DECIMAL(30,10)", "(0.1),(-5.0000000001),(7),(12345678901234567890.5)"},
        std::pair{"FLOAT", "(0.1),(0.2),(-3.4e38),(1e-30)"},
        std::pair{"TIMESTAMP(3)", "('2020-01-01 00:00:00.5'),('2020-01-01'),('1999-01-01')"},
        std::pair{"TIME", "('-100:00:00'),('01:00:00'),('800:00:00')"},
        std::pair{"BIT(64)", "(18446744073709551615),(1),(0)"},
        std::pair{"BIGINT UNSIGNED", "(18446744073709551615),(1),(9223372036854775808)"},
        std::pair{"VARCHAR(9) COLLATE utf8mb4_general_ci", "('b'),('A'),('a'),('Ä'),('z')"},
        std::pair{"CHAR(9) CHARACTER SET latin1", "('b'),('é'),('z'),('a')"},
        std::pair{"ENUM('z','a','m')", "('a'),('m'),('z')"},
        std::pair{"VARBINARY(9)", "('b'),('A'),(x'00'),(x'ff')"}}) {
    SCOPED_TRACE(type);
    const std::string create = std::string{"CREATE TABLE t(id INT AUTO_INCREMENT PRIMARY KEY, v "} +
                               type + ", KEY by_v(v))";
    const std::string insert = std::string{"INSERT INTO t(v) VALUES"} + values + ",(NULL)";
    run_engine({create, insert}, [&](engine& on) -> task<void> {
      const catalog_ref schema = on.schema();
      const table& t = find(on, "t");
      const column_position columns[] = {0, 1};
      for (const bool is_descending : {false, true}) {
        scan_request request{.from = &t,
                             .columns = columns,
                             .index = 0,
                             .is_descending = is_descending,
                             .limit = 100};
        const std::string whole = co_await scan_all(on, request);
        request.limit = 1;
        EXPECT_EQ(co_await scan_all(on, request), whole);
      }
    });
  }
}

TEST_P(mysql_engine_scan, a_long_one_is_made_of_parts_and_none_of_them_looks_at_a_row_again) {
  run_engine({"CREATE TABLE t(a INT, b INT, c VARCHAR(20), PRIMARY KEY(a,b))",
              "INSERT INTO t SELECT seq % 7, seq, CONCAT('n', seq) FROM seq_1_to_5000"},
             [&](engine& on) -> task<void> {
               const catalog_ref schema = on.schema();
               const table& t = find(on, "t");
               const column_position columns[] = {1};
               const scan_request request{.from = &t, .columns = columns, .limit = 10'000};
               noted_scan sink{request};
               const auto rest = co_await on.scan(request, sink);
               EXPECT_TRUE(rest);
               EXPECT_EQ(rest.value_or("?"), "");
               EXPECT_EQ(sink.rows, 5'000U);
               EXPECT_TRUE(sink.text.starts_with("[7] [14] [21]"));
             });
  EXPECT_EQ(counted("store_scan_rows_total"), 5'000);
  EXPECT_LT(counted("store_scan_slices_total"), 12);
}

TEST_P(mysql_engine_scan, what_takes_the_server_too_long_is_ended_by_it) {
  options_.statement_time = std::chrono::milliseconds{100};
  run_engine(
      {"CREATE TABLE t(a INT PRIMARY KEY, n INT)", "INSERT INTO t SELECT seq, 0 FROM seq_1_to_10"},
      [&](engine& on) -> task<void> {
        connection other{*loop_};
        EXPECT_TRUE(co_await other.open(server_.unix_socket(), mariadb_server::account()));
        EXPECT_TRUE(co_await other.run("LOCK TABLES engine_test.t WRITE"));
        const catalog_ref schema = on.schema();
        const table& t = find(on, "t");
        const column_position columns[] = {1};
        const scan_request request{.from = &t, .columns = columns, .limit = 10};
        noted_scan sink{request};
        EXPECT_EQ((co_await on.scan(request, sink)).error(), errc::timed_out);
        EXPECT_TRUE(co_await other.run("UNLOCK TABLES"));
        EXPECT_TRUE(co_await on.scan(request, sink));
        EXPECT_EQ(sink.rows, 10U);
      });
}

}  // namespace
}  // namespace weft::store::mysql
