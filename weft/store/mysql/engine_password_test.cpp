// A password that changes while the program runs.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_engine_password : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.user = "rotated";
    options_.retry_first = std::chrono::milliseconds{1};
    options_.retry_most = std::chrono::milliseconds{10};
    keep_in_file("before");
  }

  void keep_in_file(std::string_view password) const {
    std::ofstream{options_.password_file} << password << "\n";
  }

  /// The server knows no other from now on, and no connection made by another stays.
  task<void> change_at_server() {
    EXPECT_EQ(co_await sql("ALTER USER rotated IDENTIFIED BY 'after'"), "");
    EXPECT_EQ(co_await sql("KILL USER rotated"), "");
  }

  task<std::string> row_of(engine& on) { return look_up(on, "t", {{value::integer(1)}}, {"v"}); }

  /// Asks until it is the row, or for a while.
  task<std::string> row_in_time(engine& on) {
    std::string found = co_await row_of(on);
    for (int more = 1'000; found != row && more > 0; --more) {
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{10}));
      found = co_await row_of(on);
    }
    co_return found;
  }

  static constexpr std::string_view row = R"(["one"])";
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_password, kernel_backends, backend_name);

TEST_P(mysql_engine_password, is_read_again_when_it_is_told_to) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES(1, 'one')",
              "CREATE OR REPLACE USER rotated IDENTIFIED BY 'before'",
              "GRANT ALL ON engine_test.* TO rotated"},
             [&](engine& on) -> task<void> {
               EXPECT_EQ(co_await row_in_time(on), row);
               co_await change_at_server();
               EXPECT_NE(co_await row_of(on), row) << "it is that of before, which is wrong now";
               keep_in_file("after");
               EXPECT_TRUE(on.reload());
               EXPECT_EQ(co_await row_in_time(on), row);
             });
}

TEST_P(mysql_engine_password, stays_where_its_file_cannot_be_read) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES(1, 'one')",
              "CREATE OR REPLACE USER rotated IDENTIFIED BY 'before'",
              "GRANT ALL ON engine_test.* TO rotated"},
             [&](engine& on) -> task<void> {
               std::filesystem::remove(options_.password_file);
               kept_log told;
               EXPECT_EQ(on.reload(), result<void>{fail(errc::invalid_argument)});
               EXPECT_EQ(told.count("store.mysql.engine.password_file: cannot read "), 1U);
               EXPECT_EQ(co_await sql("KILL USER rotated"), "");
               EXPECT_EQ(co_await row_in_time(on), row);
             });
}

}  // namespace
}  // namespace weft::store::mysql
