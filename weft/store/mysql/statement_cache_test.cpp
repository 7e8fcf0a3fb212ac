#include <weft/store/mysql/statement_cache.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_statements_test : public mysql_fixture {};
INSTANTIATE_TEST_SUITE_P(on, mysql_statements_test, kernel_backends, backend_name);

TEST_P(mysql_statements_test, are_prepared_once_and_the_oldest_goes_first) {
  loop_->spawn([](event_loop& loop, net::endpoint where) -> task<void> {
    connection server{loop};
    auto account = mariadb_server::account();
    account.statements_max = 2;
    EXPECT_TRUE(co_await server.open(where, account));
    const auto trips_of = [&](std::string_view text) -> task<std::uint64_t> {
      const std::uint64_t before = server.round_trips();
      const auto found = co_await server.prepared(text);
      EXPECT_TRUE(found) << server.last_failure().message;
      co_return server.round_trips() - before;
    };
    EXPECT_EQ(co_await trips_of("SELECT 1"), 1U);
    EXPECT_EQ(co_await trips_of("SELECT 2"), 1U);
    EXPECT_EQ(co_await trips_of("SELECT 1"), 0U);
    EXPECT_EQ(co_await trips_of("SELECT 3"), 1U) << "2 goes";
    EXPECT_EQ(co_await trips_of("SELECT 1"), 0U);
    EXPECT_EQ(co_await trips_of("SELECT 2"), 1U);
    EXPECT_EQ(text_of(**co_await server.prepared("SELECT 2")), "") << "it has not run";
    EXPECT_FALSE(co_await server.prepared("SELECT nosuch"));
    EXPECT_TRUE(co_await server.open(where, account));
    EXPECT_EQ(co_await trips_of("SELECT 2"), 1U) << "a new connection has none";
  }(*loop_, server_.unix_socket()));
  loop_->run();
}

/// Tests that leave the server room for so many prepared statements.
class mysql_room_test : public mysql_fixture {
 protected:
  void TearDown() override {
    if (!IsSkipped())
      run([](connection& administrator) -> task<void> {
        EXPECT_TRUE(co_await administrator.run("SET GLOBAL max_prepared_stmt_count = 16382"));
      });
    mysql_fixture::TearDown();
  }
  task<void> leave_room(connection& administrator, int statements) {
    // Those of connections that are closed go in their own time.
    std::string kept;
    for (int looks = 0; looks < 2'000 && kept != "1"; ++looks) {
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{5}));
      kept = co_await ask(administrator,
                          "SELECT CAST(variable_value AS INT) FROM "
                          "information_schema.global_status "
                          "WHERE variable_name = 'PREPARED_STMT_COUNT'");
    }
    EXPECT_EQ(kept, "1");
    const std::string text = "SET GLOBAL max_prepared_stmt_count = " + std::to_string(statements);
    EXPECT_TRUE(co_await administrator.run(text));
    EXPECT_TRUE(co_await administrator.ping());
  }
  task<void> open(connection& to, statement_room* room = nullptr) {
    auto account = mariadb_server::account();
    account.room = room;
    EXPECT_TRUE(co_await to.open(server_.unix_socket(), account));
  }
  static task<std::string> use(connection& by, int number) {
    const auto found = co_await by.prepared("SELECT " + std::to_string(number));
    if (!found) co_return std::string{by.last_failure().message};
    if (!co_await by.execute(**found, {})) co_return std::string{by.last_failure().message};
    co_return text_of(**found);
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_room_test, kernel_backends, backend_name);

TEST_P(mysql_room_test, a_connection_gives_up_what_it_keeps_for_what_it_needs) {
  run([&](connection& administrator) -> task<void> {
    co_await leave_room(administrator, 4);
    connection only{*loop_};
    co_await open(only);
    for (int round = 0; round < 2; ++round)
      for (int i = 0; i < 10; ++i) EXPECT_EQ(co_await use(only, i), std::to_string(i));
    auto passing = co_await only.prepare("SELECT 'not kept'");
    EXPECT_TRUE(passing) << only.last_failure().message;
  });
}

TEST_P(mysql_room_test, a_connection_with_nothing_is_given_room_by_the_others) {
  run([&](connection& administrator) -> task<void> {
    co_await leave_room(administrator, 4);
    statement_room room;
    connection rich{*loop_};
    connection poor{*loop_};
    co_await open(rich, &room);
    co_await open(poor, &room);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(co_await use(rich, i), std::to_string(i));
    const std::string told = co_await use(poor, 7);
    EXPECT_TRUE(told.contains("raise max_prepared_stmt_count")) << told;
    EXPECT_EQ(poor.last_failure().kind, failure_kind::busy);
    EXPECT_TRUE(poor.is_open());
    EXPECT_EQ(co_await use(rich, 3), "3");
    EXPECT_EQ(co_await use(poor, 7), "7");
    EXPECT_EQ(room.shortages, 1U);
  });
}

TEST_P(mysql_room_test,
       a_statement_that_the_server_cannot_run_as_it_was_prepared_is_prepared_again) {
  run([&](connection& server) -> task<void> {
    for (const char* const text :
         {"CREATE OR REPLACE TABLE renewed(name VARCHAR(20) PRIMARY KEY)",
          "CREATE OR REPLACE TABLE attempts(n INT) ENGINE=MyISAM", "INSERT INTO attempts VALUES(0)",
          "CREATE OR REPLACE TRIGGER refused BEFORE INSERT ON renewed FOR EACH ROW BEGIN "
          "UPDATE attempts SET n = n + 1; IF (SELECT n FROM attempts) < NEW.name + 0 THEN "
          "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1615, MESSAGE_TEXT = 'prepare it again'; "
          "END IF; END"})
      EXPECT_TRUE(co_await server.run(text)) << server.last_failure().message;
    const auto insert = [&server](std::string_view name) -> task<std::string> {
      const auto found = co_await server.prepared("INSERT INTO renewed VALUES(?)");
      if (!found) co_return std::string{server.last_failure().message};
      const value parameters[] = {value::text(name)};
      if (co_await server.execute(**found, parameters)) co_return "done";
      co_return std::string{to_string(server.last_failure().kind)};
    };
    EXPECT_EQ(co_await insert("3 times"), "done");
    EXPECT_EQ(co_await ask(server, "SELECT n FROM attempts"), "3");
    EXPECT_EQ(co_await insert("1 time"), "done");
    EXPECT_TRUE(co_await server.run("UPDATE attempts SET n = 0"));
    EXPECT_EQ(co_await insert("9 times"), "schema_changed") << "it does not go on for ever";
    EXPECT_EQ(co_await insert("2 times"), "done");
    EXPECT_EQ(co_await ask(server, "SELECT name FROM renewed ORDER BY name"),
              "'1 time'|'2 times'|'3 times'");
    EXPECT_TRUE(co_await server.run("DROP TABLE renewed, attempts"));
  });
}

}  // namespace
}  // namespace weft::store::mysql
