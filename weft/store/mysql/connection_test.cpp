#include <weft/store/mysql/connection.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

using std::chrono::milliseconds;

class mysql_connection_test : public mysql_fixture {
 protected:
  /// Runs `body` with a connection that is not open.
  template <class Body>
  void run_closed(Body body) {
    loop_->spawn(with_closed(body));
    loop_->run();
  }

 private:
  template <class Body>
  task<void> with_closed(Body& body) {
    connection made{*loop_};
    co_await body(made);
  }
};

INSTANTIATE_TEST_SUITE_P(on, mysql_connection_test, kernel_backends, backend_name);

TEST_P(mysql_connection_test, speaks_over_tcp_and_over_unix_sockets) {
  run_closed([&](connection& server) -> task<void> {
    for (const net::endpoint& where : {server_.tcp(), server_.unix_socket()}) {
      EXPECT_TRUE(co_await server.open(where, mariadb_server::account()))
          << server.last_failure().message;
      EXPECT_TRUE(server.is_open());
      EXPECT_EQ(co_await ask(server, "SELECT 1, DATABASE(), @@character_set_client"),
                "1 'shop' 'utf8mb4'");
      EXPECT_EQ(co_await ask(server, "SHOW SESSION STATUS LIKE 'Ssl_version'"), "'Ssl_version' ''")
          << "nobody has asked for it";
      EXPECT_TRUE(co_await server.ping());
    }
  });
}

TEST_P(mysql_connection_test, counts_what_a_text_changes) {
  run([](connection& server) -> task<void> {
    EXPECT_TRUE(co_await server.run("CREATE OR REPLACE TABLE counted(id INT PRIMARY KEY, n INT)"));
    EXPECT_EQ(co_await server.run("INSERT INTO counted VALUES (1, 1), (2, 2)"), 2U);
    EXPECT_EQ(co_await server.run("UPDATE counted SET n = 1 WHERE id = 1"), 1U)
        << "found, though not changed";
    EXPECT_EQ(co_await server.run("SELECT * FROM counted"), 0U);
    EXPECT_EQ(co_await ask(server, "SELECT * FROM counted ORDER BY id"), "1 1|2 2");
    EXPECT_TRUE(co_await server.run("DROP TABLE counted"));
  });
}

TEST_P(mysql_connection_test, drops_all_results_of_a_procedure) {
  run([](connection& server) -> task<void> {
    EXPECT_TRUE(
        co_await server.run("CREATE OR REPLACE PROCEDURE two() BEGIN SELECT 1; SELECT 2; END"));
    EXPECT_TRUE(co_await server.run("CALL two()")) << server.last_failure().message;
    EXPECT_EQ(co_await ask(server, "SELECT 3"), "3");
    EXPECT_TRUE(co_await server.run("DROP PROCEDURE two"));
  });
}

TEST_P(mysql_connection_test, gives_each_kind_of_value_as_it_was_given) {
  run([](connection& server) -> task<void> {
    const std::string long_text(100'000, 'x');
    const std::vector<value> given{value{},
                                   value::integer(INT64_MIN),
                                   value::natural(UINT64_MAX),
                                   value::real(0.5),
                                   value::text("Grüße"),
                                   value::bytes({"\0\xff", 2}),
                                   value::text(long_text)};
    const std::string tail{"\0\xff", 2};
    const std::string text = co_await ask(server, "SELECT ?, ?, ?, ?, ?, ?, ?", given);
    EXPECT_EQ(text, "NULL -9223372036854775808 18446744073709551615u 0.500000 'Grüße' b'" + tail +
                        "' '" + long_text + "'");
    const std::vector<value> empty{value::text(""), value::bytes("")};
    EXPECT_EQ(co_await ask(server, "SELECT ?, ?", empty), "'' b''");
  });
}

TEST_P(mysql_connection_test, runs_a_statement_again_with_wider_rows) {
  run([](connection& server) -> task<void> {
    auto repeated =
        co_await server.prepare("SELECT REPEAT('ab', seq), NULL FROM seq_1_to_3 WHERE seq <= ?");
    EXPECT_TRUE(repeated) << server.last_failure().message;
    if (!repeated) co_return;
    EXPECT_EQ(repeated->parameters(), 1U);
    const value one[] = {value::integer(1)};
    const value three[] = {value::integer(3)};
    const value none[] = {value::integer(0)};
    EXPECT_TRUE(co_await server.execute(*repeated, one));
    EXPECT_EQ(text_of(*repeated), "'ab' NULL");
    EXPECT_TRUE(co_await server.execute(*repeated, three));
    EXPECT_EQ(repeated->rows(), 3U);
    EXPECT_TRUE(repeated->next());
    EXPECT_TRUE(co_await server.execute(*repeated, three)) << "with rows that nobody took";
    EXPECT_EQ(text_of(*repeated), "'ab' NULL|'abab' NULL|'ababab' NULL");
    EXPECT_FALSE(repeated->next());
    EXPECT_TRUE(co_await server.execute(*repeated, none));
    EXPECT_EQ(text_of(*repeated), "");
    EXPECT_EQ(co_await server.execute(*repeated, {}), fail(errc::invalid_argument));
  });
}

/// What the server has received on its connection, by a statement that is there already.
class received_bytes {
 public:
  static constexpr std::string_view text =
      "SELECT CAST(variable_value AS SIGNED) FROM information_schema.session_status "
      "WHERE variable_name = 'Bytes_received'";

  received_bytes(connection& by, statement& select) : by_{by}, select_{select} {}

  /// That it takes to run `what` so.
  task<std::int64_t> of(statement& what, std::vector<value> given, bool is_good = true) {
    const std::int64_t before = co_await so_far();
    EXPECT_EQ((co_await by_.execute(what, given)).has_value(), is_good);
    co_return (co_await so_far()) - before;
  }

 private:
  task<std::int64_t> so_far() {
    EXPECT_TRUE(co_await by_.execute(select_, {}));
    EXPECT_TRUE(select_.next());
    co_return select_.row()[0].as_integer();
  }

  connection& by_;
  statement& select_;
};

constexpr std::int64_t bytes_of_type = 2;

TEST_P(mysql_connection_test, tells_the_types_of_numbers_once) {
  run([](connection& server) -> task<void> {
    auto add = co_await server.prepare("SELECT ? + ?, ?");
    auto select = co_await server.prepare(received_bytes::text);
    EXPECT_TRUE(add && select) << server.last_failure().message;
    if (!add || !select) co_return;
    received_bytes received{server, *select};
    const auto cost = [&](std::vector<value> given, std::string_view sum) -> task<std::int64_t> {
      const std::int64_t bytes = co_await received.of(*add, std::move(given));
      EXPECT_EQ(text_of(*add), sum);
      co_return bytes;
    };
    constexpr std::int64_t types = 3 * bytes_of_type;
    const std::int64_t first =
        co_await cost({value::integer(1), value::integer(2), value::real(0.5)}, "3 0.500000");
    EXPECT_EQ(co_await cost({value::integer(-5), value::integer(3), value::real(1)}, "-2 1.000000"),
              first - types);
    EXPECT_EQ(co_await cost({value::natural(9), value::integer(0), value::real(2)}, "9u 2.000000"),
              first)
        << "one of them is another";
    EXPECT_EQ(co_await cost({value::natural(1), value::integer(1), value::text("x")}, "2u 'x'"),
              first - 8 + 2);
    EXPECT_EQ(co_await cost({value::natural(2), value::integer(1), value::text("yz")}, "3u 'yz'"),
              first - 8 + 3)
        << "a text may lie elsewhere";
    EXPECT_EQ(co_await cost({value{}, value::integer(1), value{}}, "NULL NULL"), first - 16);
    EXPECT_EQ(co_await cost({value{}, value::integer(2), value{}}, "NULL NULL"),
              first - 16 - types);
  });
}

TEST_P(mysql_connection_test, tells_the_types_anew_after_a_run_that_failed) {
  run([](connection& server) -> task<void> {
    EXPECT_TRUE(co_await server.run("CREATE OR REPLACE TABLE told(id INT UNSIGNED PRIMARY KEY)"));
    auto insert = co_await server.prepare("INSERT INTO told VALUES (?)");
    auto select = co_await server.prepare(received_bytes::text);
    EXPECT_TRUE(insert && select) << server.last_failure().message;
    if (!insert || !select) co_return;
    received_bytes received{server, *select};
    const std::int64_t first = co_await received.of(*insert, {value::integer(1)});
    EXPECT_EQ(co_await received.of(*insert, {value::integer(-1)}, false), first - bytes_of_type);
    EXPECT_EQ(co_await received.of(*insert, {value::integer(2)}), first);
    EXPECT_EQ(co_await ask(server, "SELECT * FROM told"), "1u|2u");
    EXPECT_TRUE(co_await server.run("DROP TABLE told"));
  });
}

TEST_P(mysql_connection_test, is_set_up_whatever_the_server_makes_of_new_connections) {
  run([&](connection& administrator) -> task<void> {
    EXPECT_TRUE(co_await administrator.run("CREATE OR REPLACE USER plain IDENTIFIED BY 'secret'"));
    EXPECT_TRUE(
        co_await administrator.run("SET GLOBAL init_connect = 'SET NAMES latin1, "
                                   "sql_big_selects=0, max_join_size=1, sql_safe_updates=1'"));
    connection_options account = mariadb_server::account();
    account.user = "plain";
    account.database.clear();
    connection made{*loop_};
    EXPECT_TRUE(co_await made.open(server_.unix_socket(), account)) << made.last_failure().message;
    EXPECT_EQ(co_await ask(made, "SELECT CHAR_LENGTH('é€'), '€', _utf8mb4 x'F09F9880'"),
              "2 '€' '😀'");
    EXPECT_EQ(co_await ask(made,
                           "SELECT COUNT(*) FROM information_schema.collations a, "
                           "information_schema.collations b WHERE a.id < 3 AND b.id < 3"),
              "4");
    EXPECT_EQ(co_await ask(made, "SELECT @@sql_safe_updates"), "0");
    EXPECT_TRUE(co_await administrator.run("SET GLOBAL init_connect = ''"));
    EXPECT_TRUE(co_await administrator.run("DROP USER plain"));
  });
}

TEST_P(mysql_connection_test, says_what_the_server_says_and_goes_on) {
  run([](connection& server) -> task<void> {
    EXPECT_TRUE(co_await server.run("CREATE OR REPLACE TABLE ruled(id INT PRIMARY KEY)"));
    EXPECT_TRUE(co_await server.run("INSERT INTO ruled VALUES (1)"));
    EXPECT_EQ(co_await server.run("INSERT INTO ruled VALUES (1)"), fail(errc::invalid_argument));
    EXPECT_EQ(server.server_error(), 1062U);
    EXPECT_EQ(server.last_failure().kind, failure_kind::duplicate_key);
    EXPECT_EQ(server.last_failure().message,
              "Duplicate entry '1' for key 'PRIMARY' (error 1062 of the server, SQL state 23000)");
    EXPECT_FALSE(co_await server.prepare("SELEC 1"));
    EXPECT_EQ(server.last_failure().kind, failure_kind::invalid);
    auto insert = co_await server.prepare("INSERT INTO ruled VALUES (?)");
    const value one[] = {value::integer(1)};
    EXPECT_EQ(co_await server.execute(*insert, one), fail(errc::invalid_argument));
    EXPECT_EQ(server.last_failure().kind, failure_kind::duplicate_key);
    EXPECT_FALSE(co_await server.run("SELECT * FROM nowhere"));
    EXPECT_EQ(server.last_failure().kind, failure_kind::schema_changed);
    EXPECT_TRUE(server.is_open());
    EXPECT_TRUE(co_await server.run("DROP TABLE ruled"));
  });
}

TEST_P(mysql_connection_test, says_why_it_cannot_open) {
  run_closed([&](connection& server) -> task<void> {
    auto stranger = mariadb_server::account();
    stranger.password = "wrong";
    EXPECT_EQ(co_await server.open(server_.tcp(), stranger), fail(errc::invalid_argument));
    EXPECT_EQ(server.server_error(), 1045U) << server.last_failure().message;
    EXPECT_FALSE(server.is_open());
    EXPECT_EQ(co_await server.run("SELECT 1"), fail(errc::closed));
    EXPECT_EQ(co_await server.ping(), fail(errc::closed));
    auto nobody = net::endpoint::parse("unix:/nowhere/at/all");
    EXPECT_EQ(co_await server.open(*nobody, mariadb_server::account()), fail(errc::unavailable));
    EXPECT_EQ(server.server_error(), 0U);
    EXPECT_EQ(server.last_failure().kind, failure_kind::input_output);
  });
}

TEST_P(mysql_connection_test, a_connection_that_the_server_ends_is_closed) {
  run([&](connection& server) -> task<void> {
    connection other{*loop_};
    EXPECT_TRUE(co_await other.open(server_.tcp(), mariadb_server::account()));
    auto kept = co_await other.prepare("SELECT 1");
    EXPECT_TRUE(co_await server.run("KILL " +
                                    co_await ask(other, "SELECT CAST(CONNECTION_ID() AS SIGNED)")));
    auto ended = co_await other.execute(*kept, {});
    EXPECT_FALSE(ended);
    EXPECT_FALSE(other.is_open()) << other.last_failure().message;
    EXPECT_EQ(co_await other.execute(*kept, {}), fail(errc::closed));
    EXPECT_TRUE(co_await other.open(server_.tcp(), mariadb_server::account()));
    EXPECT_EQ(co_await other.execute(*kept, {}), fail(errc::closed)) << "it was of the other one";
    EXPECT_EQ(co_await ask(other, "SELECT 1"), "1");
  });
}

TEST_P(mysql_connection_test, a_server_that_dies_in_the_midst_of_a_call_fails_it) {
  run([&](connection& server) -> task<void> {
    std::optional<result<std::uint64_t>> slept;
    scope calls{co_await this_task::environment()};
    calls.spawn([](connection& on, auto& outcome) -> task<void> {
      outcome = co_await on.run("SELECT SLEEP(60)");
    }(server, slept));
    std::ignore = co_await sleep_for(*loop_, milliseconds{50});
    EXPECT_FALSE(slept);
    server_.kill();
    co_await calls.join();
    EXPECT_EQ(slept, fail(errc::reset)) << server.last_failure().message;
    EXPECT_FALSE(server.is_open());
    server_.start();
    EXPECT_TRUE(co_await server.open(server_.unix_socket(), mariadb_server::account()));
  });
}

TEST_P(mysql_connection_test, waits_no_longer_than_its_deadline) {
  run([&](connection& server) -> task<void> {
    EXPECT_EQ(co_await with_timeout(milliseconds{50}, server.run("SELECT SLEEP(60)")),
              fail(errc::timed_out));
    EXPECT_FALSE(server.is_open()) << "nobody knows what is under way on it";
    EXPECT_EQ(server.last_failure().kind, failure_kind::input_output);
    EXPECT_TRUE(co_await server.open(server_.tcp(), mariadb_server::account()));
    EXPECT_TRUE(co_await with_timeout(std::chrono::minutes{1}, server.run("SELECT SLEEP(0.01)")));
    auto slow = co_await server.prepare("SELECT SLEEP(60)");
    EXPECT_EQ(co_await with_timeout(milliseconds{50}, server.execute(*slow, {})),
              fail(errc::timed_out));
    EXPECT_FALSE(server.is_open());
  });
}

TEST_P(mysql_connection_test, a_deadline_passed_before_changes_nothing) {
  run([&](connection& server) -> task<void> {
    EXPECT_EQ(co_await with_deadline(deadline::at(loop_->now()), server.run("SELECT 1")),
              fail(errc::timed_out));
    EXPECT_TRUE(server.is_open());
    EXPECT_TRUE(co_await server.run("SELECT 1"));
  });
}

TEST_P(mysql_connection_test, connecting_to_who_never_answers_ends_at_the_deadline) {
  run_closed([&](connection& server) -> task<void> {
    auto silent = net::tcp_listener::bind(*loop_, net::endpoint::loopback(0));
    EXPECT_TRUE(silent);
    EXPECT_EQ(co_await with_timeout(milliseconds{50}, server.open(silent->local_endpoint(),
                                                                  mariadb_server::account())),
              fail(errc::timed_out));
    EXPECT_FALSE(server.is_open());
  });
}

TEST_P(mysql_connection_test, who_speaks_another_protocol_is_refused) {
  run_closed([&](connection& server) -> task<void> {
    auto web = net::tcp_listener::bind(*loop_, net::endpoint::loopback(0));
    scope others{co_await this_task::environment()};
    others.spawn([](net::tcp_listener& door) -> task<void> {
      auto visitor = co_await door.accept();
      EXPECT_TRUE(co_await visitor->write(std::string{"HTTP/1.1 400 Bad Request\r\n\r\n"}));
      std::ignore = co_await visitor->close();
    }(*web));
    EXPECT_FALSE(co_await server.open(web->local_endpoint(), mariadb_server::account()));
    EXPECT_EQ(server.server_error(), 0U) << server.last_failure().message;
    EXPECT_FALSE(server.is_open());
    co_await others.join();
  });
}

TEST_P(mysql_connection_test, sends_and_takes_more_than_a_socket_holds) {
  run([](connection& server) -> task<void> {
    const std::string much(8'000'000, 'x');
    const std::vector<value> given{value::text(much)};
    EXPECT_EQ(co_await ask(server, "SELECT ?", given), "'" + much + "'");
  });
}

TEST_P(mysql_connection_test, a_stop_request_cuts_a_call_off) {
  run([&](connection& server) -> task<void> {
    for (const bool is_first : {true, false}) {
      std::optional<result<std::uint64_t>> slept;
      scope calls{co_await this_task::environment()};
      if (is_first) calls.request_stop();
      calls.spawn([](connection& on, auto& outcome) -> task<void> {
        outcome = co_await on.run("SELECT SLEEP(60)");
      }(server, slept));
      std::ignore = co_await sleep_for(*loop_, milliseconds{20});
      calls.request_stop();
      co_await calls.join();
      EXPECT_EQ(slept->error(), errc::cancelled);
      EXPECT_EQ(server.is_open(), is_first) << "what was not begun changes nothing";
    }
  });
}

TEST_P(mysql_connection_test, a_stop_request_with_the_answer_gives_one_or_the_other) {
  run([&](connection& server) -> task<void> {
    std::optional<result<std::uint64_t>> answered;
    scope calls{co_await this_task::environment()};
    calls.spawn([](connection& on, auto& outcome) -> task<void> {
      outcome = co_await on.run("SELECT 1");
    }(server, answered));
    co_await yield{*loop_};
    std::this_thread::sleep_for(milliseconds{20});  // the answer comes, and the loop is busy
    calls.request_stop();
    co_await calls.join();
    EXPECT_EQ(answered->has_value(), server.is_open());
  });
}

}  // namespace
}  // namespace weft::store::mysql
