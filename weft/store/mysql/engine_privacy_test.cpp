// What a server says of accounts and machines is for the log, and not for whoever asks for rows.

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_engine_privacy : public engine_fixture {
 protected:
  static constexpr std::string_view denied =
      "the database server does not let this service do that: ask its operator, whose log says "
      "what is missing";

  void SetUp() override {
    engine_fixture::SetUp();
    options_.user = "limited";
    options_.connections_max = 1;
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_privacy, kernel_backends, backend_name);

TEST_P(mysql_engine_privacy, who_may_not_do_it_is_told_no_more_than_that) {
  kept_log log;
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES(1,1)",
              "CREATE OR REPLACE USER limited IDENTIFIED BY 'secret'",
              "GRANT SELECT, INSERT ON engine_test.t TO limited"},
             [&](engine& on) -> task<void> {
               const catalog_ref schema = on.schema();
               const table& t = find(on, "t");
               EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), "[1]");
               co_await sql("REVOKE SELECT, INSERT ON engine_test.t FROM limited");

               const value key = value::integer(2);
               const key_write insert{write_kind::insert, &t, {&key, 1}};
               for (int i = 0; i < 3; ++i) {
                 noted_writes written;
                 EXPECT_TRUE(co_await on.write({&insert, 1}, written));
                 EXPECT_EQ(written.text, "!read_only");
                 EXPECT_EQ(written.message, denied);
               }
               const column_position columns[] = {1};
               const key_read read{&t, {&key, 1}, columns};
               noted_reads found{{&read, 1}};
               EXPECT_TRUE(co_await on.read({&read, 1}, found));
               EXPECT_EQ(found.message, denied);
               const scan_request all{.from = &t, .columns = columns, .limit = 3};
               noted_scan scanned{all};
               std::ignore = co_await on.scan(all, scanned);
               EXPECT_EQ(scanned.message, denied);
               noted_query asked;
               std::ignore =
                   co_await on.query({.database = database, .text = "SELECT v FROM t"}, asked);
               EXPECT_EQ(asked.message, denied);
             });
  EXPECT_EQ(log.count("INSERT command denied to user 'limited'@'"), 1U) << "the same again";
  EXPECT_EQ(log.count("SELECT command denied to user 'limited'@'"), 1U);
}

TEST_P(mysql_engine_privacy, a_name_within_another_message_is_for_the_log_as_well) {
  kept_log log;
  run_engine({"CREATE OR REPLACE USER limited IDENTIFIED BY 'secret'",
              "CREATE TABLE t(id INT PRIMARY KEY)", "GRANT ALL ON engine_test.* TO limited",
              "CREATE DEFINER = 'gone'@'10.1.2.3' TRIGGER never BEFORE INSERT ON t FOR EACH ROW "
              "SET NEW.id = NEW.id"},
             [&](engine& on) -> task<void> {
               const catalog_ref schema = on.schema();
               const value key = value::integer(2);
               const key_write insert{write_kind::insert, &find(on, "t"), {&key, 1}};
               noted_writes written;
               EXPECT_TRUE(co_await on.write({&insert, 1}, written));
               EXPECT_FALSE(written.message.contains("gone")) << written.message;
               EXPECT_FALSE(written.message.contains("10.1.2.3")) << written.message;
               EXPECT_TRUE(written.message.contains("ask its operator")) << written.message;
             });
  EXPECT_EQ(log.count("'@'"), 1U) << "whether the definer's or its own";
}

}  // namespace
}  // namespace weft::store::mysql
