#include <weft/store/mysql/statement_cache.hpp>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace weft::store::mysql
