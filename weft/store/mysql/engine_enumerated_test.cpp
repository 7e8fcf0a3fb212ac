// ENUM and SET whose values look like numbers, and numbers that are none of their values.

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_enumerated_test : public engine_fixture {
 protected:
  /// A row of `t`, and in `message` why it was not written.
  static task<std::string> put(engine& on, write_kind kind, std::string_view key,
                               std::string_view column, std::string_view content,
                               std::string* message = nullptr) {
    const catalog_ref schema = on.schema();
    const table& t = *schema->find(database, "t");
    const value key_value = value::text(key);
    const column_position columns[] = {t.find(column).value()};
    const value values[] = {value::text(content)};
    const key_write one{kind, &t, {&key_value, 1}, columns, values};
    noted_writes sink;
    const auto written = co_await on.write({&one, 1}, sink);
    if (message != nullptr) *message = sink.message;
    co_return written ? sink.text : std::string{written.error().message()};
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_enumerated_test, kernel_backends, backend_name);

constexpr std::string_view table_of_numbers =
    "CREATE TABLE t(k ENUM('3','2','1','x') PRIMARY KEY, e ENUM('2','1','a'), s SET('4','2','1'))";

TEST_P(mysql_enumerated_test, a_value_that_is_a_number_comes_back_as_it_went) {
  run_engine({table_of_numbers}, [&](engine& on) -> task<void> {
    for (const std::string_view key : {"1", "2", "3"}) {
      EXPECT_EQ(co_await put(on, write_kind::insert, key, "e", "1"), "ok");
      EXPECT_EQ(co_await look_up(on, "t", {{value::text(key)}}), R"(["1",null])") << key;
      EXPECT_EQ(co_await put(on, write_kind::update, key, "e", "2"), "ok");
      EXPECT_EQ(co_await put(on, write_kind::upsert, key, "s", "1"), "ok");
      EXPECT_EQ(co_await look_up(on, "t", {{value::text(key)}}), R"(["2","1"])") << key;
      EXPECT_EQ(co_await put(on, write_kind::update, key, "s", "4,1"), "ok");
      EXPECT_EQ(co_await look_up(on, "t", {{value::text(key)}}, {"s"}), R"(["4,1"])") << key;
    }
    EXPECT_EQ(co_await sql("SELECT CAST(k AS CHAR) FROM t ORDER BY k + 0"), "'3'|'2'|'1'");
  });
}

TEST_P(mysql_enumerated_test, a_number_that_is_no_value_is_refused_rather_than_counted) {
  run_engine(
      {table_of_numbers, "INSERT INTO t VALUES('x','a','4')"}, [&](engine& on) -> task<void> {
        std::string why;
        for (const std::string_view number : {"3", "0", " 1", "+1", "01", "1 ", "99999999999"}) {
          for (const std::string_view column : {"e", "s"}) {
            EXPECT_EQ(co_await put(on, write_kind::update, "x", column, number, &why),
                      "!constraint")
                << number;
            EXPECT_TRUE(why.contains("is none of the values of the column")) << why;
          }
          EXPECT_EQ(co_await put(on, write_kind::upsert, "x", "e", number), "!constraint");
        }
        EXPECT_EQ(co_await put(on, write_kind::insert, "4", "e", "a", &why), "!constraint");
        EXPECT_EQ(why,
                  "\"4\" is none of the values of the column k: write one of them, and not its "
                  "number");
        for (const std::string_view unknown : {"b", "1,2", "x1"})
          EXPECT_EQ(co_await put(on, write_kind::update, "x", "e", unknown, &why), "!constraint")
              << why;
        // No row is so called, which is no fault.
        EXPECT_EQ(co_await put(on, write_kind::update, "4", "e", "a"), "-");
        EXPECT_EQ(co_await look_up(on, "t", {{value::text("4")}}), "-");
        EXPECT_EQ(co_await look_up(on, "t", {{value::text("1")}}), "-");
        EXPECT_EQ(co_await sql("SELECT CAST(k AS CHAR), CAST(e AS CHAR), CAST(s AS CHAR) FROM t"),
                  "'x' 'a' '4'");
      });
}

TEST_P(mysql_enumerated_test, of_a_batch_nothing_is_done) {
  run_engine({table_of_numbers}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    const value keys[] = {value::text("1"), value::text("2"), value::text("9")};
    std::vector<key_write> batch;
    for (const value& key : keys) batch.push_back({write_kind::insert, &t, {&key, 1}});
    noted_writes sink;
    EXPECT_TRUE(co_await on.write(batch, sink));
    EXPECT_EQ(sink.text, "!rolled_back !rolled_back !constraint");
    EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t"), "0");
  });
}

}  // namespace
}  // namespace weft::store::mysql
