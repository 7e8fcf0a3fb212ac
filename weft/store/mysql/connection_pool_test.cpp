#include <weft/store/mysql/connection_pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/sanitizers.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::store::mysql {
namespace {

using std::chrono::milliseconds;

class mysql_pool_test : public mysql_fixture {
 protected:
  /// Runs `body` with a pool.
  template <class Body>
  void run_pool(const pool_options& options, Body body) {
    metrics_.emplace();
    loop_->spawn(with_pool(options, body));
    loop_->run();
    if (metrics_->read().find("store_connections_open", {}) != nullptr) {
      EXPECT_EQ(counted("store_connections_open"), 0);
    }
  }
  [[nodiscard]] std::int64_t counted(std::string_view series) const {
    const telemetry::snapshot seen = metrics_->read();
    const telemetry::series* const found = seen.find(series, {});
    return found == nullptr ? -1 : found->value;
  }
  static pool_options small(std::size_t connections_max) {
    return {.account = mariadb_server::account(), .connections_max = connections_max};
  }
  static task<std::string> number_of(connection& asked) {
    co_return co_await ask(asked, "SELECT CAST(CONNECTION_ID() AS SIGNED)");
  }
  [[nodiscard]] sleep_until pause(int length_ms) {
    return sleep_for(*loop_, milliseconds{length_ms});
  }

  std::optional<telemetry::registry> metrics_;
  std::vector<std::string> servers_{server_.unix_socket().to_string()};

 private:
  template <class Body>
  task<void> with_pool(const pool_options& options, Body& body) {
    auto names = net::resolver::create(*loop_);
    std::vector<server_address> servers;
    for (const std::string& each : servers_) servers.push_back(*server_address::parse(each));
    connection_pool pool{*loop_, *names, std::move(servers), options, metrics_->shard(0)};
    co_await body(pool);
  }
};

INSTANTIATE_TEST_SUITE_P(on, mysql_pool_test, kernel_backends, backend_name);

TEST_P(mysql_pool_test, uses_again_what_was_used_last) {
  run_pool(small(4), [&](connection_pool& pool) -> task<void> {
    std::string first;
    {
      auto one = co_await pool.acquire();
      EXPECT_TRUE(one) << pool.last_failure();
      first = co_await number_of(**one);
      auto two = co_await pool.acquire();
      EXPECT_NE(co_await number_of(**two), first);
    }
    auto again = co_await pool.acquire();
    EXPECT_EQ(co_await number_of(**again), first) << "leases ended in reverse order";
    EXPECT_EQ(counted("store_connections_opened_total"), 2);
    EXPECT_EQ(counted("store_connections_open"), 2);
  });
}

TEST_P(mysql_pool_test, serves_those_who_wait_in_their_order) {
  run_pool(small(1), [&](connection_pool& pool) -> task<void> {
    std::vector<int> order;
    scope users{co_await this_task::environment()};
    {
      auto held = co_await pool.acquire();
      EXPECT_TRUE(held) << pool.last_failure();
      for (int i = 0; i < 20; ++i) {
        users.spawn([](connection_pool& from, int number, std::vector<int>& began) -> task<void> {
          auto mine = co_await from.acquire();
          EXPECT_TRUE(mine) << from.last_failure();
          began.push_back(number);
          if (mine) EXPECT_TRUE(co_await (*mine)->ping());
        }(pool, i, order));
        co_await yield{*loop_};
      }
      EXPECT_TRUE(order.empty());
    }
    co_await users.join();
    EXPECT_EQ(order.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_EQ(counted("store_connections_opened_total"), 1);
  });
}

TEST_P(mysql_pool_test, makes_no_more_than_it_may) {
  run_pool(small(2), [&](connection_pool& pool) -> task<void> {
    auto one = co_await pool.acquire();
    auto two = co_await pool.acquire();
    EXPECT_TRUE(one);
    EXPECT_TRUE(two);
    const auto third = co_await with_timeout(milliseconds{20}, pool.acquire());
    EXPECT_EQ(third.error(), errc::timed_out);
    EXPECT_EQ(counted("store_connections_opened_total"), 2);
  });
}

TEST_P(mysql_pool_test, a_warm_lease_allocates_nothing) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "sanitizers take frames from the heap";
  run_pool(small(1), [&](connection_pool& pool) -> task<void> {
    for (int i = 0; i < 3; ++i) std::ignore = co_await pool.acquire();
    const testing::allocation_counter since;
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(co_await pool.acquire());
    EXPECT_EQ(since.allocations(), 0U);
  });
}

TEST_P(mysql_pool_test, who_waits_obeys_its_deadline_and_leaves_no_gap) {
  auto options = small(1);
  options.waiting_max = 1;
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    std::optional<connection_pool::lease> held;
    if (auto one = co_await pool.acquire()) held.emplace(std::move(*one));
    EXPECT_TRUE(held) << pool.last_failure();
    const auto too_late = co_await with_timeout(milliseconds{20}, pool.acquire());
    EXPECT_EQ(too_late.error(), errc::timed_out);
    scope users{co_await this_task::environment()};
    bool has_waited = false;
    users.spawn([](connection_pool& from, bool& done) -> task<void> {
      done = (co_await from.acquire()).has_value();
    }(pool, has_waited));
    std::ignore = co_await pause(5);
    EXPECT_EQ((co_await pool.acquire()).error(), errc::limit_exceeded);
    EXPECT_FALSE(has_waited);
    held.reset();
    co_await users.join();
    EXPECT_TRUE(has_waited);
    EXPECT_TRUE(co_await pool.acquire());
    EXPECT_EQ(counted("store_connections_opened_total"), 1);
  });
}

TEST_P(mysql_pool_test, a_connection_that_was_cut_off_is_not_kept) {
  run_pool(small(1), [&](connection_pool& pool) -> task<void> {
    for (int i = 0; i < 2; ++i) {
      auto mine = co_await pool.acquire();
      EXPECT_TRUE(mine) << pool.last_failure();
      const auto slept = co_await with_timeout(milliseconds{20}, (*mine)->run("SELECT SLEEP(60)"));
      EXPECT_EQ(slept.error(), errc::timed_out);
    }
    EXPECT_EQ(counted("store_connections_lost_total"), 2);
    EXPECT_EQ(counted("store_connections_opened_total"), 2);
  });
}

TEST_P(mysql_pool_test, idle_ones_that_have_died_are_noticed) {
  auto options = small(2);
  options.check_after = {};
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    std::string number;
    {
      auto mine = co_await pool.acquire();
      number = co_await number_of(**mine);
      auto other = co_await pool.acquire();
      EXPECT_TRUE(co_await (*other)->run("KILL " + number));
    }
    auto mine = co_await pool.acquire();
    EXPECT_TRUE(mine) << pool.last_failure();
    EXPECT_NE(co_await number_of(**mine), number);
    auto other = co_await pool.acquire();
    EXPECT_TRUE(other) << pool.last_failure();
    EXPECT_NE(co_await number_of(**other), number);
    EXPECT_EQ(counted("store_connections_lost_total"), 1);
    EXPECT_EQ(counted("store_connections_opened_total"), 3);
  });
}

TEST_P(mysql_pool_test, one_that_its_server_has_ended_is_not_given_and_nobody_is_asked) {
  run_pool(small(1), [&](connection_pool& pool) -> task<void> {
    connection other{*loop_};
    EXPECT_TRUE(co_await other.open(server_.tcp(), mariadb_server::account()));
    std::string number;
    {
      auto mine = co_await pool.acquire();
      EXPECT_TRUE(mine) << pool.last_failure();
      number = co_await number_of(**mine);
    }
    EXPECT_TRUE(co_await other.run("KILL " + number));
    const std::string left =
        "SELECT CAST(COUNT(*) AS SIGNED) FROM information_schema.processlist WHERE id = " + number;
    while (co_await ask(other, left) != "0") std::ignore = co_await pause(5);
    std::ignore = co_await pause(50);
    auto mine = co_await pool.acquire();
    EXPECT_TRUE(mine) << pool.last_failure();
    EXPECT_TRUE((*mine)->is_open());
    EXPECT_NE(co_await number_of(**mine), number);
    EXPECT_EQ(counted("store_connections_lost_total"), 1);
    EXPECT_EQ(counted("store_connections_opened_total"), 2);
  });
}

TEST_P(mysql_pool_test, closes_what_nobody_uses) {
  auto options = small(3);
  options.idle_max = milliseconds{20};
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    {
      auto one = co_await pool.acquire();
      auto two = co_await pool.acquire();
      EXPECT_EQ(counted("store_connections_open"), 2);
    }
    while (counted("store_connections_open") != 0) std::ignore = co_await pause(5);
    EXPECT_EQ(counted("store_connections_lost_total"), 0);
    EXPECT_TRUE(co_await pool.acquire());
  });
}

TEST_P(mysql_pool_test, a_server_that_is_gone_is_tried_by_one) {
  auto options = small(4);
  options.retry_first = options.retry_most = std::chrono::seconds{1};
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    server_.kill();
    std::vector<errc> told;
    scope users{co_await this_task::environment()};
    for (int i = 0; i < 100; ++i)
      users.spawn([](connection_pool& from, std::vector<errc>& why) -> task<void> {
        const auto mine = co_await from.acquire();
        EXPECT_FALSE(mine);
        if (!mine) why.push_back(mine.error().code());
      }(pool, told));
    co_await users.join();
    EXPECT_EQ(told, std::vector<errc>(100, errc::unavailable));
    EXPECT_EQ(counted("store_connect_failures_total"), 1);
    EXPECT_TRUE(pool.last_failure().starts_with("cannot connect to unix:")) << pool.last_failure();
    server_.start();
    while (true) {
      auto mine = co_await pool.acquire();
      if (mine) break;
      std::ignore = co_await pause(20);
    }
    EXPECT_LE(counted("store_connect_failures_total"), 2);
  });
}

TEST_P(mysql_pool_test, a_stop_request_while_connecting_is_no_fault_of_the_server) {
  run_pool(small(1), [&](connection_pool& pool) -> task<void> {
    scope users{co_await this_task::environment()};
    users.spawn(
        [](connection_pool& from) -> task<void> { std::ignore = co_await from.acquire(); }(pool));
    co_await yield{*loop_};
    users.request_stop();
    co_await users.join();
    EXPECT_EQ(counted("store_connect_failures_total"), 0);
    EXPECT_TRUE(co_await pool.acquire()) << pool.last_failure();
  });
}

TEST_P(mysql_pool_test, goes_to_the_next_server_and_stays_there) {
  servers_ = {"unix:/nowhere/one", server_.unix_socket().to_string(), "unix:/nowhere/three"};
  run_pool(small(2), [&](connection_pool& pool) -> task<void> {
    for (int i = 0; i < 20; ++i) {
      auto one = co_await pool.acquire();
      auto two = co_await pool.acquire();
      EXPECT_TRUE(one && two) << pool.last_failure();
    }
    EXPECT_EQ(counted("store_connect_failures_total"), 1);
    EXPECT_EQ(counted("store_connections_opened_total"), 2);
    EXPECT_EQ(counted("store_servers_given_up_total"), 0);
  });
}

TEST_P(mysql_pool_test, says_of_all_servers_why_none_can_be_used) {
  servers_ = {"unix:/nowhere/one", "unix:/nowhere/two"};
  auto options = small(1);
  options.retry_first = options.retry_most = std::chrono::hours{1};
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    for (int i = 0; i < 10; ++i) EXPECT_EQ((co_await pool.acquire()).error(), errc::unavailable);
    EXPECT_TRUE(pool.last_failure().contains("unix:/nowhere/one")) << pool.last_failure();
    EXPECT_TRUE(pool.last_failure().contains("; cannot connect to unix:/nowhere/two"))
        << pool.last_failure();
    EXPECT_EQ(counted("store_connect_failures_total"), 2) << "each has its own pause";
  });
}

TEST_P(mysql_pool_test, comes_to_a_server_by_its_other_way_when_the_one_in_use_is_lost) {
  // Two ways to the one server that there is: TCP stands for a second server.
  servers_ = {server_.unix_socket().to_string(), server_.tcp().to_string()};
  run_pool(small(3), [&](connection_pool& pool) -> task<void> {
    {
      auto held = co_await pool.acquire();
      {
        auto idle = co_await pool.acquire();
        EXPECT_TRUE(held && idle) << pool.last_failure();
      }
      EXPECT_EQ(counted("store_connections_open"), 2);
      // As a node that its cluster is without says it, to one of them.
      const auto told = co_await (*held)->run("SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1047");
      EXPECT_EQ(told.error(), errc::unavailable);
      EXPECT_FALSE((*held)->is_open());
    }
    EXPECT_EQ(counted("store_servers_given_up_total"), 1);
    EXPECT_EQ(counted("store_connections_open"), 0) << "those that lay idle, too";
    auto other = co_await pool.acquire();
    EXPECT_TRUE(other) << pool.last_failure();
    EXPECT_EQ(co_await ask(**other,
                           "SELECT CAST(COUNT(*) AS SIGNED) FROM "
                           "information_schema.processlist WHERE id = CONNECTION_ID() "
                           "AND host LIKE '127.0.0.1:%'"),
              "1");
    EXPECT_EQ(counted("store_connect_failures_total"), 0);
  });
}

TEST_P(mysql_pool_test, leaves_a_server_that_only_reads_but_not_one_after_the_other) {
  servers_ = {server_.unix_socket().to_string(), server_.tcp().to_string()};
  auto options = small(1);
  options.retry_most = std::chrono::hours{1};
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    std::vector<std::string> numbers;
    for (int i = 0; i < 3; ++i) {
      auto mine = co_await pool.acquire();
      EXPECT_TRUE(mine) << pool.last_failure();
      if (!mine) co_return;
      numbers.push_back(co_await number_of(**mine));
      EXPECT_FALSE(co_await (*mine)->run("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290"));
      EXPECT_TRUE(co_await (*mine)->ping()) << "what comes after it, as a ROLLBACK, hides nothing";
    }
    EXPECT_NE(numbers[0], numbers[1]);
    EXPECT_EQ(numbers[1], numbers[2]) << "all may only read";
    EXPECT_EQ(counted("store_servers_given_up_total"), 1);
    EXPECT_EQ(counted("store_connect_failures_total"), 0);
  });
}

TEST_P(mysql_pool_test, one_that_only_reads_is_kept_where_there_is_no_other) {
  run_pool(small(1), [&](connection_pool& pool) -> task<void> {
    for (int i = 0; i < 2; ++i) {
      auto mine = co_await pool.acquire();
      EXPECT_TRUE(mine) << pool.last_failure();
      EXPECT_FALSE(co_await (*mine)->run("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290"));
    }
    EXPECT_EQ(counted("store_connections_opened_total"), 1);
  });
}

TEST_P(mysql_pool_test, what_is_in_use_at_a_server_that_is_lost_is_not_kept) {
  servers_ = {server_.unix_socket().to_string(), server_.tcp().to_string()};
  run_pool(small(2), [&](connection_pool& pool) -> task<void> {
    {
      auto one = co_await pool.acquire();
      std::optional<connection_pool::lease> two;
      if (auto made = co_await pool.acquire()) two.emplace(std::move(*made));
      EXPECT_TRUE(one && two) << pool.last_failure();
      std::ignore = co_await (*two)->run("SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1047");
      two.reset();
      // The one that is out still counts to nobody: two of the next server can be had.
      auto three = co_await pool.acquire();
      auto four = co_await pool.acquire();
      EXPECT_TRUE(three && four) << pool.last_failure();
      EXPECT_TRUE(co_await (*one)->ping()) << "nobody takes it away";
      EXPECT_EQ(counted("store_connections_open"), 3);
    }
    EXPECT_EQ(counted("store_connections_open"), 2);
    EXPECT_EQ(counted("store_connections_opened_total"), 4);
  });
}

TEST_P(mysql_pool_test, a_server_that_does_not_answer_is_given_up_by_who_finds_out) {
  // A listener that accepts nothing: its kernel says yes, and then there is silence.
  auto silent = net::tcp_listener::bind(*loop_, net::endpoint::loopback(0));
  ASSERT_TRUE(silent);
  servers_ = {silent->local_endpoint().to_string(), server_.tcp().to_string()};
  auto options = small(1);
  options.connect_timeout = milliseconds{100};
  run_pool(options, [&](connection_pool& pool) -> task<void> {
    auto mine = co_await pool.acquire();
    EXPECT_TRUE(mine) << pool.last_failure();
    EXPECT_EQ(counted("store_connect_failures_total"), 1);
  });
}

TEST_P(mysql_pool_test, one_that_is_full_is_kept_by_those_whom_it_has_let_in) {
  servers_ = {server_.unix_socket().to_string(), server_.tcp().to_string()};
  run_pool(small(3), [&](connection_pool& pool) -> task<void> {
    connection other{*loop_};
    EXPECT_TRUE(co_await other.open(server_.unix_socket(), mariadb_server::account()));
    auto held = co_await pool.acquire();
    EXPECT_TRUE(held) << pool.last_failure();
    EXPECT_TRUE(co_await other.run("SET GLOBAL max_connections = 10"));
    std::vector<std::unique_ptr<connection>> crowd;
    for (bool has_room = true; has_room;) {
      crowd.push_back(std::make_unique<connection>(*loop_));
      has_room =
          (co_await crowd.back()->open(server_.tcp(), mariadb_server::account())).has_value();
    }
    EXPECT_EQ(crowd.back()->server_error(), 1040U);
    scope beside{co_await this_task::environment()};
    bool has_one = false;
    beside.spawn([](connection_pool& of, bool& told) -> task<void> {
      const auto one = co_await of.acquire();
      EXPECT_TRUE(one) << of.last_failure();
      told = true;
    }(pool, has_one));
    while (counted("store_connect_failures_total") == 0)
      EXPECT_TRUE(co_await sleep_for(*loop_, milliseconds{1}));
    EXPECT_FALSE(has_one) << "it waits for those whom the server has let in";
    EXPECT_TRUE(co_await (*held)->ping());
    held = fail(errc::closed);
    co_await beside.join();
    EXPECT_TRUE(has_one);
    crowd.clear();
    EXPECT_TRUE(co_await other.run("SET GLOBAL max_connections = 100"));
    EXPECT_EQ(counted("store_servers_given_up_total"), 0);
    EXPECT_EQ(counted("store_connect_failures_total"), 1);
  });
}

}  // namespace
}  // namespace weft::store::mysql
