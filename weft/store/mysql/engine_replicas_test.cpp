// Reads that go to a replica: here a server with rows of its own, so that it shows who has
// answered.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/proxy_test.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>
#include <weft/store/mysql/replicas.hpp>

namespace weft::store::mysql {
namespace {

/// As a server that was stopped: it lets clients in, and says nothing, until it is let go on.
class stopping_proxy : public net::test_proxy {
 public:
  stopping_proxy(event_loop& loop, net::endpoint server) : test_proxy{loop, std::move(server)} {
    go_on();
  }

  void stop() { goes_on_.reset(); }
  void go_on() { goes_on_.set(); }

 private:
  task<bool> on_text(said& /*by*/, std::string& /*text*/) override {
    co_return (co_await goes_on_.wait()).has_value();
  }

  event goes_on_;
};

class mysql_replicas_test : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    if (IsSkipped()) return;
    options_.replicas = replica_.unix_socket().to_string();
    options_.tls = {};  // the two servers have nobody in common who could have signed for both
    options_.retry_first = std::chrono::milliseconds{1};
    options_.retry_most = std::chrono::milliseconds{100};
  }

  template <class Body>
  void run_with_replica(Body body) {
    loop_->spawn(prepare_replica());
    loop_->run();
    run_engine(
        {"CREATE TABLE t(id INT PRIMARY KEY, v VARCHAR(9))", "INSERT INTO t VALUES(1,'main')"},
        body);
  }
  task<std::string> ask_replica(std::string_view text) {
    connection other{*loop_};
    const auto opened = co_await other.open(replica_.unix_socket(), mariadb_server::account());
    EXPECT_TRUE(opened) << other.failure_for_log();
    if (!opened) co_return "";
    co_return co_await ask(other, text);
  }
  /// Until a row is told so.
  task<void> wait_for(engine& on, std::string_view told) {
    for (int more = 1'000; more > 0; --more) {
      if (co_await look_up(on, "t", {{value::integer(1)}}) == told) co_return;
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{10}));
    }
    ADD_FAILURE() << "nobody says " << told;
  }

  /// Runs `body` with a replica behind a proxy.
  template <class Body>
  void run_with_stopping_replica(Body body) {
    stopping_proxy proxy{*loop_, replica_.unix_socket()};
    beside_ = [&proxy] { return proxy.serve(); };
    options_.replicas = proxy.address().to_string();
    run_with_replica([&](engine& on) -> task<void> {
      co_await wait_for(on, by_replica);
      co_await body(on, proxy);
    });
  }
  task<void> wait_for_reachable(std::int64_t replicas) {
    for (int more = 1'000; more > 0 && counted("store_replicas_reachable") != replicas; --more)
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{10}));
    EXPECT_EQ(counted("store_replicas_reachable"), replicas);
  }
  /// What a scan of all rows tells, if it does before it is missed.
  static task<std::string> scan(engine& on) {
    const catalog_ref schema = on.schema();
    const column_position columns[] = {1};
    const scan_request all{.from = &find(on, "t"), .columns = columns, .limit = 3};
    noted_scan scanned{all};
    const auto ended = co_await with_timeout(missed_after, on.scan(all, scanned));
    co_return ended ? scanned.text : std::string{ended.error().message()};
  }
  static task<std::string> query(engine& on, std::string_view text = "SELECT v FROM t") {
    noted_query asked;
    const auto ended = co_await with_timeout(
        missed_after, on.query({.database = database, .text = std::string{text}}, asked));
    co_return ended ? asked.text : std::string{ended.error().message()};
  }

  /// So that a test that fails comes to its end.
  static constexpr duration missed_after = std::chrono::seconds{20};
  static constexpr std::string_view by_main = R"(["main"])";
  static constexpr std::string_view by_replica = R"(["replica"])";
  mariadb_server& replica_ = mariadb_server::other();

 private:
  task<void> prepare_replica() {
    for (const char* const text : {"CREATE OR REPLACE DATABASE engine_test",
                                   "CREATE TABLE engine_test.t(id INT PRIMARY KEY, v VARCHAR(9))",
                                   "INSERT INTO engine_test.t VALUES(1,'replica')"})
      EXPECT_EQ(co_await ask_replica(text), "");
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_replicas_test, kernel_backends, backend_name);

TEST_P(mysql_replicas_test, answer_what_is_read_and_nothing_else) {
  options_.connections_max = 1;  // beside which there is that by which it is followed
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    const column_position columns[] = {1};
    const scan_request all{.from = &t, .columns = columns, .limit = 3};
    noted_scan scanned{all};
    EXPECT_TRUE(co_await on.scan(all, scanned));
    EXPECT_EQ(scanned.text, by_replica);
    noted_query asked;
    EXPECT_TRUE(co_await on.query({.database = database, .text = "SELECT v FROM t"}, asked));
    EXPECT_EQ(asked.text, R"(v ["replica"])");

    const value key = value::integer(2);
    const value content[] = {value::text("new")};
    const key_write upsert{write_kind::upsert, &t, {&key, 1}, columns, content};
    noted_writes written;
    EXPECT_TRUE(co_await on.write({&upsert, 1}, written));
    EXPECT_EQ(written.text, "ok");
    EXPECT_EQ(co_await sql("SELECT v FROM t WHERE id = 2"), "'new'");
    EXPECT_EQ(co_await ask_replica("SELECT COUNT(*) FROM engine_test.t"), "1");
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(2)}}), "-") << "it is behind";
    EXPECT_EQ(counted("store_replicas_reachable"), 1);
    EXPECT_GE(counted("store_replica_calls_total"), 4);
  });
  EXPECT_EQ(counted("store_replicas_reachable"), 0);
}

TEST_P(mysql_replicas_test, are_not_missed_while_they_are_gone) {
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    replica_.kill();
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main) << i;
    EXPECT_EQ(counted("store_replicas_reachable"), 0);
    replica_.start();
    co_await wait_for(on, by_replica);
  });
}

TEST_P(mysql_replicas_test, answer_while_the_main_server_is_gone) {
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    server_.kill();
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_replica) << i;
    const catalog_ref schema = on.schema();
    const value key = value::integer(2);
    const key_write insert{write_kind::insert, &find(on, "t"), {&key, 1}};
    for (int i = 0; i < 2; ++i) {
      noted_writes told;
      EXPECT_EQ((co_await on.write({&insert, 1}, told)).error(), errc::unavailable);
    }
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_replica);
    EXPECT_FALSE(on.is_reachable());
    server_.start();
  });
}

TEST_P(mysql_replicas_test, that_are_not_there_at_first_are_not_waited_for) {
  replica_.kill();
  options_.replicas = replica_.unix_socket().to_string();
  kept_log log;
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v VARCHAR(9))", "INSERT INTO t VALUES(1,'main')"},
             [&](engine& on) -> task<void> {
               constexpr std::string_view why = "no replica is to be had: cannot connect to unix:";
               for (int more = 1'000; more > 0 && log.count(why) == 0; --more)
                 EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{10}));
               EXPECT_EQ(log.count(why), 1U);
               EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main);
             });
  replica_.start();
}

TEST_P(mysql_replicas_test, that_are_silent_leave_look_ups_to_the_main_server) {
  run_with_stopping_replica([&](engine& on, stopping_proxy& proxy) -> task<void> {
    proxy.stop();
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main);
    const std::int64_t asked = counted("store_replica_calls_total");
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main) << i;
    EXPECT_EQ(counted("store_replica_calls_total"), asked) << "one has found out for all";
    co_await wait_for_reachable(0);
    proxy.go_on();
    co_await wait_for(on, by_replica);
  });
}

TEST_P(mysql_replicas_test, that_are_silent_leave_the_main_server_time_of_a_short_deadline) {
  options_.read_time = replicas::answer_patience;
  run_with_stopping_replica([&](engine& on, stopping_proxy& proxy) -> task<void> {
    proxy.stop();
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main);
    proxy.go_on();
  });
}

TEST_P(mysql_replicas_test, that_are_silent_end_scans_and_queries_which_the_main_server_answers) {
  run_with_stopping_replica([&](engine& on, stopping_proxy& proxy) -> task<void> {
    proxy.stop();
    EXPECT_EQ(co_await scan(on), by_main);
    EXPECT_EQ(counted("store_replicas_reachable"), 0);
    proxy.go_on();
    co_await wait_for_reachable(1);
    EXPECT_EQ(co_await scan(on), by_replica);
    proxy.stop();
    EXPECT_EQ(co_await query(on), std::string{"v "}.append(by_main));
    EXPECT_EQ(counted("store_replicas_reachable"), 0);
    proxy.go_on();
  });
}

TEST_P(mysql_replicas_test, that_are_silent_leave_the_reads_to_the_next) {
  kept_log log;
  stopping_proxy proxy{*loop_, replica_.unix_socket()};
  beside_ = [&proxy] { return proxy.serve(); };
  options_.replicas = proxy.address().to_string().append(",").append(server_.tcp().to_string());
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    proxy.stop();
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main);
    const std::int64_t asked = counted("store_replica_calls_total");
    for (int more = 1'000; more > 0 && counted("store_replica_calls_total") == asked; --more) {
      EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main);
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{10}));
    }
    EXPECT_GT(counted("store_replica_calls_total"), asked) << "the next is a replica, too";
    EXPECT_EQ(counted("store_replicas_reachable"), 1);
    EXPECT_EQ(log.count("no replica is to be had"), 0U);
    EXPECT_EQ(log.count("serves no more: the connection was cut off"), 1U);
    proxy.go_on();
  });
}

TEST_P(mysql_replicas_test, are_there_for_others_while_a_query_takes_long) {
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    connection other{*loop_};
    EXPECT_TRUE(co_await other.open(replica_.unix_socket(), mariadb_server::account()));
    EXPECT_TRUE(co_await other.run("LOCK TABLES engine_test.t WRITE"));
    scope aside{co_await this_task::environment()};
    std::string told;
    aside.spawn(
        [](engine& of, std::string& to) -> task<void> { to = co_await query(of); }(on, told));
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main) << "it has a second";
    // Longer than a replica may be silent.
    EXPECT_TRUE(co_await sleep_for(*loop_, 3 * replicas::answer_patience));
    EXPECT_EQ(counted("store_replicas_reachable"), 1);
    EXPECT_EQ(co_await query(on, "SELECT 'here' AS v"), R"(v ["here"])");
    EXPECT_EQ(told, "");
    EXPECT_TRUE(co_await other.run("UNLOCK TABLES"));
    co_await aside.join();
    EXPECT_EQ(told, std::string{"v "}.append(by_replica));
  });
}

TEST_P(mysql_replicas_test, are_not_asked_in_vain_for_what_they_do_not_have_yet) {
  kept_log log;
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    const std::string queried = std::string{"v "}.append(by_main);
    constexpr std::string_view lack = "the main server is asked for what the replica unix:";
    const std::vector<std::vector<value>> one_of_two{{value::integer(1)}, {value::integer(2)}};
    for (const char* const change :
         {"ALTER TABLE engine_test.t RENAME COLUMN v TO w", "DROP TABLE engine_test.t"}) {
      EXPECT_EQ(co_await ask_replica(change), "");
      EXPECT_EQ(co_await query(on, "SELECT x FROM t"), "!invalid") << "nobody has it";
      EXPECT_EQ(co_await look_up(on, "t", one_of_two), std::string{by_main}.append(" -")) << change;
      EXPECT_EQ(co_await scan(on), by_main) << change;
      EXPECT_EQ(co_await query(on), queried) << change;
      EXPECT_EQ(log.count(lack), 1U) << "once in a while";
    }
    EXPECT_EQ(log.count("does not have: Unknown column"), 1U);
    EXPECT_EQ(counted("store_failures_total", {{"kind", "schema_changed"}}), 0);
    EXPECT_EQ(counted("store_schema_changes_total"), 1);
    EXPECT_EQ(counted("store_replicas_reachable"), 1);
  });
}

TEST_P(mysql_replicas_test, are_logged_in_to_by_the_password_that_was_read_last) {
  // Too long to lie in the string itself: a login that is under way may not look at one that is
  // gone.
  const std::string before(60, 'b');
  const std::string after(60, 'a');
  const auto keep_in_file = [&](std::string_view password) {
    std::ofstream{options_.password_file} << password << "\n";
  };
  const auto on_both = [&](std::string text) -> task<void> {
    EXPECT_EQ(co_await ask_replica(text), "");
    connection main{*loop_};
    EXPECT_TRUE(co_await main.open(server_.unix_socket(), mariadb_server::account()));
    EXPECT_TRUE(co_await main.run(text));
  };
  loop_->spawn([](auto& run, const std::string& password) -> task<void> {
    co_await run("CREATE OR REPLACE USER moved IDENTIFIED BY '" + password + "'");
    co_await run("GRANT ALL ON *.* TO moved");
  }(on_both, before));
  loop_->run();
  options_.user = "moved";
  keep_in_file(before);
  run_with_stopping_replica([&](engine& on, stopping_proxy& proxy) -> task<void> {
    co_await on_both("ALTER USER moved IDENTIFIED BY '" + after + "'");
    proxy.stop();
    const std::size_t clients = proxy.clients();
    EXPECT_EQ(co_await ask_replica("KILL USER moved"), "");
    for (int more = 1'000; more > 0 && proxy.clients() == clients; --more)
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{10}));
    EXPECT_GT(proxy.clients(), clients) << "it logs in anew";
    keep_in_file(after);
    EXPECT_TRUE(on.reload());
    proxy.go_on();
    co_await wait_for(on, by_main);
    co_await wait_for(on, by_replica);
  });
}

TEST_P(mysql_replicas_test, are_not_blamed_for_what_the_main_server_does_not_have_either) {
  kept_log log;
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    EXPECT_EQ(co_await query(on, "SELECT x FROM t"), "!invalid");
    EXPECT_EQ(co_await sql("ALTER TABLE t RENAME COLUMN v TO w"), "");
    EXPECT_EQ(co_await ask_replica("ALTER TABLE engine_test.t RENAME COLUMN v TO w"), "");
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), "!schema_changed");
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_replica) << "as it is now";
    EXPECT_EQ(log.count("the main server is asked"), 0U);
  });
}

TEST_P(mysql_replicas_test, whose_keys_are_none_there_are_not_believed) {
  kept_log log;
  run_with_replica([&](engine& on) -> task<void> {
    co_await wait_for(on, by_replica);
    EXPECT_EQ(co_await ask_replica("ALTER TABLE engine_test.t DROP PRIMARY KEY"), "");
    EXPECT_EQ(co_await ask_replica("INSERT INTO engine_test.t VALUES(1,'twice')"), "");
    EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), by_main);
    EXPECT_EQ(log.count("does not have: the table has changed"), 1U);
  });
}

}  // namespace
}  // namespace weft::store::mysql
