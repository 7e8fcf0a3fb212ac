// Connections by TLS: what servers have to prove, and what a shard does meanwhile.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/net/proxy_test.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

enum class fault : std::uint8_t { silence, end };

/// Passes on what the server says only as far as that: then it is silent and keeps the connection,
/// or ends it.
class stalling_proxy : public net::test_proxy {
 public:
  stalling_proxy(event_loop& loop, net::endpoint server, std::size_t said_max = SIZE_MAX)
      : test_proxy{loop, std::move(server)}, left_{said_max} {}

  /// Whether it came to that.
  [[nodiscard]] bool is_silent() const noexcept { return is_silent_; }
  fault then = fault::silence;
  /// Whatever has been said until now.
  void fall_silent() noexcept { left_ = 0; }
  /// Whether the server's greeting is to say that it knows no TLS, as who stands between would.
  bool hides_tls = false;
  bool hides_methods = false;
  std::string client_said;

 private:
  task<bool> on_text(said& by, std::string& text) override {
    if (by.whose == side::client) {
      client_said += text;
      co_return true;
    }
    if (std::exchange(hides_tls, false)) hide(text, 1, 0x08);
    if (std::exchange(hides_methods, false)) hide_methods(text);
    is_silent_ = is_silent_ || text.size() > left_;
    text.resize(std::min(text.size(), left_));
    left_ -= text.size();
    co_return !is_silent_ || then == fault::silence;
  }
  static std::size_t end_of_version(std::string_view greeting) { return greeting.find('\0', 5); }
  /// Of its greeting: half of what it can do stands behind its version, the other half five bytes
  /// on.
  static void hide(std::string& greeting, std::size_t byte, unsigned char bits) {
    constexpr std::size_t number_and_salt = 1 + 4 + 8 + 1;
    char& at = greeting.at(end_of_version(greeting) + number_and_salt + byte);
    at = static_cast<char>(static_cast<unsigned char>(at) & ~bits);
  }
  /// As servers did that had no names for ways to log in: the greeting ends with the salt.
  static void hide_methods(std::string& greeting) {
    constexpr std::size_t rest_and_salt = 1 + 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10 + 13;
    constexpr std::size_t packet_head = 4;
    hide(greeting, 5, 0x08);
    hide(greeting, 7, 0xff);  // how long the salt is
    greeting.resize(end_of_version(greeting) + rest_and_salt);
    greeting[0] = static_cast<char>(greeting.size() - packet_head);
  }

  std::size_t left_;
  bool is_silent_ = false;
};

class mysql_tls_test : public mysql_fixture {
 protected:
  void TearDown() override {
    server_.certify({.names = {"db.test"}});
    mysql_fixture::TearDown();
  }
  [[nodiscard]] connection_options secured(tls_mode mode) {
    connection_options account = mariadb_server::account();
    account.tls = {.mode = mode, .ca = server_.authority().ca()};
    return account;
  }
  /// How a connection that is open is secured, or why it is not open.
  task<std::string> try_to_open(const connection_options& account, std::string_view name) {
    connection made{*loop_};
    if (const auto opened = co_await made.open(server_.tcp(), account, name); !opened)
      co_return made.failure_for_log();
    const std::string cipher = co_await ask(made, "SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    co_return cipher.starts_with("'Ssl_cipher' 'TLS_") ? "secured" : cipher;
  }
};

INSTANTIATE_TEST_SUITE_P(on, mysql_tls_test, kernel_backends, backend_name);

TEST_P(mysql_tls_test, encrypts_what_is_said) {
  run([&](connection&) -> task<void> {
    EXPECT_EQ(co_await try_to_open(secured(tls_mode::verify), "db.test"), "secured");
    EXPECT_EQ(co_await try_to_open(secured(tls_mode::verify_ca), "other.test"), "secured");
    const net::test_authority other{"another authority"};
    connection_options blind = secured(tls_mode::required);
    blind.tls.ca = other.ca();
    EXPECT_EQ(co_await try_to_open(blind, "other.test"), "secured");
  });
}

TEST_P(mysql_tls_test, does_all_that_a_connection_does) {
  run([&](connection&) -> task<void> {
    connection made{*loop_};
    EXPECT_TRUE(co_await made.open(server_.tcp(), secured(tls_mode::verify), "db.test"))
        << made.last_failure().message;
    EXPECT_EQ(co_await ask(made, "SELECT LENGTH(REPEAT('x', 1000000)), REPEAT('y', 3)"),
              "1000000 'yyy'");
    const std::string large(3'000'000, 'z');
    EXPECT_EQ(co_await ask(made, "SELECT LENGTH(?)", {value::text(large)}), "3000000");
    EXPECT_EQ((co_await ask(made, "SELECT REPEAT('x', 2000000)")).size(), 2'000'002U);
    EXPECT_TRUE(co_await made.ping());
    EXPECT_EQ((co_await made.run("SELECT nonsense")).error(), errc::invalid_argument);
    EXPECT_TRUE(made.is_open());
  });
}

TEST_P(mysql_tls_test, refuses_a_certificate_that_another_has_signed) {
  const net::test_authority other{"another authority"};
  run([&](connection&) -> task<void> {
    for (const tls_mode mode : {tls_mode::verify, tls_mode::verify_ca}) {
      connection_options account = secured(mode);
      account.tls.ca = other.ca();
      const std::string told = co_await try_to_open(account, "db.test");
      EXPECT_TRUE(told.contains("certificate")) << told;
      EXPECT_TRUE(
          told.ends_with("tls_ca is to name the file of who has signed the server's certificate"))
          << told;
      account.tls.ca.clear();  // whom the system trusts
      EXPECT_TRUE((co_await try_to_open(account, "db.test")).contains("tls_ca is to name")) << told;
    }
  });
}

TEST_P(mysql_tls_test, refuses_a_certificate_that_is_made_out_to_another_name) {
  run([&](connection& administrator) -> task<void> {
    const std::string told = co_await try_to_open(secured(tls_mode::verify), "shop.test");
    EXPECT_TRUE(told.starts_with("the certificate is made out to db.test, and not to shop.test: "))
        << told;
    const std::string by_address = co_await try_to_open(secured(tls_mode::verify), "");
    EXPECT_TRUE(by_address.contains("and not to 127.0.0.1: ")) << by_address;
    server_.certify({.names = {"*.db.test"}, .addresses = {"127.0.0.1"}});
    EXPECT_TRUE(co_await administrator.run("FLUSH SSL")) << administrator.last_failure().message;
    EXPECT_EQ(co_await try_to_open(secured(tls_mode::verify), "one.db.test"), "secured");
    EXPECT_EQ(co_await try_to_open(secured(tls_mode::verify), ""), "secured");
    server_.certify({.names = {"db.test"}});
    EXPECT_TRUE(co_await administrator.run("FLUSH SSL"));
  });
}

TEST_P(mysql_tls_test, refuses_a_certificate_that_has_expired) {
  run([&](connection& administrator) -> task<void> {
    server_.certify({.names = {"db.test"}, .valid_for_seconds = -60});
    EXPECT_TRUE(co_await administrator.run("FLUSH SSL")) << administrator.last_failure().message;
    const std::string told = co_await try_to_open(secured(tls_mode::verify), "db.test");
    EXPECT_TRUE(told.contains("certificate has expired")) << told;
    EXPECT_TRUE(told.ends_with("have the server's certificate renewed")) << told;
    server_.certify({.names = {"db.test"}});
    EXPECT_TRUE(co_await administrator.run("FLUSH SSL"));
    EXPECT_EQ(co_await try_to_open(secured(tls_mode::verify), "db.test"), "secured");
  });
}

TEST_P(mysql_tls_test, refuses_a_certificate_that_is_revoked) {
  run([&](connection& administrator) -> task<void> {
    EXPECT_TRUE(co_await administrator.run("FLUSH SSL"));  // it shows what was made last
    connection_options account = secured(tls_mode::verify);
    account.tls.crl = server_.authority().revoke({});
    EXPECT_EQ(co_await try_to_open(account, "db.test"), "secured");
    server_.authority().revoke({"mariadb"});
    for (const tls_mode mode : {tls_mode::verify, tls_mode::verify_ca}) {
      account.tls.mode = mode;
      const std::string told = co_await try_to_open(account, "db.test");
      EXPECT_TRUE(told.contains("certificate revoked")) << told;
      EXPECT_TRUE(told.ends_with("have the server's certificate renewed, for tls_crl lists it"))
          << told;
    }
    server_.certify({.names = {"db.test"}});
    EXPECT_TRUE(co_await administrator.run("FLUSH SSL")) << administrator.last_failure().message;
    EXPECT_EQ(co_await try_to_open(account, "db.test"), "secured") << "by a list that is the same";
  });
}

TEST_P(mysql_tls_test, refuses_all_certificates_of_whom_no_list_that_is_good_has_come) {
  run([&](connection&) -> task<void> {
    connection_options account = secured(tls_mode::verify);
    account.tls.crl = server_.authority().revoke({}, -60);
    std::string told = co_await try_to_open(account, "db.test");
    EXPECT_TRUE(told.contains("CRL has expired")) << told;
    EXPECT_TRUE(told.ends_with("have the list of tls_crl renewed")) << told;
    net::test_authority unasked{"an authority that nobody asked"};
    account.tls.crl = unasked.revoke({});
    told = co_await try_to_open(account, "db.test");
    EXPECT_TRUE(told.contains("unable to get certificate CRL")) << told;
    EXPECT_TRUE(told.ends_with("tls_crl is to have a list of each authority of the chain")) << told;
    for (const std::string& file : {std::string{"/there/is/no/such.crl"},
                                    server_.authority().write("broken.crl", "no list")}) {
      account.tls.crl = file;
      told = co_await try_to_open(account, "db.test");
      EXPECT_TRUE(told.contains(file)) << told;
    }
  });
}

TEST_P(mysql_tls_test, tells_nobody_a_password_who_says_that_there_is_one_way_to_log_in) {
  for (const bool hides_tls : {false, true})
    for (const tls_mode mode : {tls_mode::required, tls_mode::verify_ca, tls_mode::verify})
      run([&](connection&) -> task<void> {
        stalling_proxy proxy{*loop_, server_.tcp()};
        proxy.hides_tls = hides_tls;
        proxy.hides_methods = true;
        scope beside{co_await this_task::environment()};
        beside.spawn(proxy.serve_one());
        connection made{*loop_};
        EXPECT_FALSE(co_await made.open(proxy.address(), secured(mode), "db.test"));
        EXPECT_FALSE(proxy.client_said.contains(mariadb_server::account().user))
            << "in clear text, and with what follows from the password";
        co_await beside.join();
      });
}

TEST_P(mysql_tls_test, tells_nobody_a_password_who_says_that_there_is_no_tls) {
  for (const tls_mode mode : {tls_mode::required, tls_mode::verify_ca, tls_mode::verify})
    run([&](connection&) -> task<void> {
      stalling_proxy proxy{*loop_, server_.tcp()};
      proxy.hides_tls = true;
      scope beside{co_await this_task::environment()};
      beside.spawn(proxy.serve_one());
      connection made{*loop_};
      EXPECT_FALSE(co_await made.open(proxy.address(), secured(mode), "db.test"));
      EXPECT_TRUE(made.last_failure().message.starts_with("the server speaks no TLS: "))
          << made.last_failure().message;
      co_await beside.join();
    });
}

TEST_P(mysql_tls_test, shows_a_certificate_to_a_server_that_asks_for_one) {
  run([&](connection& administrator) -> task<void> {
    EXPECT_TRUE(co_await administrator.run(
        "CREATE OR REPLACE USER certified IDENTIFIED BY 'secret' REQUIRE SUBJECT '/CN=client'"));
    const net::tls_certificate own = server_.authority().issue("client");
    connection_options account = secured(tls_mode::verify);
    account.user = "certified";
    account.database.clear();
    EXPECT_TRUE((co_await try_to_open(account, "db.test")).contains("Access denied"));
    account.tls.certificate = own.certificate;
    account.tls.key = own.key;
    EXPECT_EQ(co_await try_to_open(account, "db.test"), "secured");
    account.tls.key = "/there/is/no/such.key";
    EXPECT_TRUE((co_await try_to_open(account, "db.test")).contains("/there/is/no/such.key"));
    EXPECT_TRUE(co_await administrator.run("DROP USER certified"));
  });
}

/// Connects through a proxy that falls silent after so many bytes, until it is asked to stop, and
/// has another connection answer meanwhile. Whether it fell silent.
task<bool> stop_in_handshake(event_loop& loop, net::endpoint server, connection_options account,
                             std::size_t said_max, connection& other) {
  stalling_proxy proxy{loop, std::move(server), said_max};
  std::optional<result<void>> opened;
  scope proxied{co_await this_task::environment()};
  proxied.spawn(proxy.serve_one());
  scope connecting{co_await this_task::environment()};
  connecting.spawn(
      [](event_loop& on, net::endpoint where, connection_options as, auto& outcome) -> task<void> {
        connection made{on};
        outcome = co_await made.open(where, as, "db.test");
      }(loop, proxy.address(), std::move(account), opened));
  // Each of them takes turns of the loop that a handshake would not give.
  int answers = 0;
  for (int more = 20; !opened && more > 0; ++answers) {
    EXPECT_TRUE(co_await other.ping());
    if (proxy.is_silent()) --more;
  }
  connecting.request_stop();
  co_await connecting.join();
  co_await proxied.join();
  if (!proxy.is_silent()) co_return false;
  EXPECT_GE(answers, 20);
  EXPECT_TRUE(opened.has_value());
  if (opened) EXPECT_EQ(opened->error(), errc::cancelled) << said_max;
  co_return true;
}

TEST_P(mysql_tls_test, a_server_that_falls_silent_at_any_byte_keeps_nobody_else) {
  run([&](connection& other) -> task<void> {
    std::size_t said = 0;
    // Greeting and handshake have some 1,500 bytes; what comes after may fall together.
    for (bool is_silent = true; is_silent && said < 20'000; said += said < 100 ? 9 : 61)
      is_silent =
          co_await stop_in_handshake(*loop_, server_.tcp(), secured(tls_mode::verify), said, other);
    EXPECT_GT(said, 700U) << "less than a handshake";
    EXPECT_LT(said, 20'000U);
  });
}

TEST_P(mysql_tls_test, a_server_that_falls_silent_after_its_statements_were_closed_keeps_nobody) {
  run([&](connection&) -> task<void> {
    stalling_proxy proxy{*loop_, server_.tcp()};
    scope beside{co_await this_task::environment()};
    beside.spawn(proxy.serve_one());
    connection made{*loop_};
    EXPECT_TRUE(co_await made.open(proxy.address(), secured(tls_mode::verify), "db.test"));
    // To close one the library says so in a call that may wait.
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await ask(made, "SELECT 1"), "1");
    proxy.fall_silent();
    const auto pinged = co_await with_timeout(std::chrono::milliseconds{50}, made.ping());
    EXPECT_EQ(pinged.error(), errc::timed_out);
    EXPECT_FALSE(made.is_open());
    co_await beside.join();
  });
}

TEST_P(mysql_tls_test, a_way_that_breaks_at_any_byte_fails_the_call) {
  run([&](connection&) -> task<void> {
    std::size_t said = 0;
    for (bool is_broken = true; is_broken && said < 20'000; said += said < 100 ? 9 : 61) {
      stalling_proxy proxy{*loop_, server_.tcp(), said};
      proxy.then = fault::end;
      scope beside{co_await this_task::environment()};
      beside.spawn(proxy.serve_one());
      connection made{*loop_};
      const auto opened = co_await made.open(proxy.address(), secured(tls_mode::verify), "db.test");
      EXPECT_EQ(opened.has_value(), made.is_open());
      EXPECT_NE(opened.has_value(), proxy.is_silent()) << said;
      is_broken = proxy.is_silent();
      made.close();
      co_await beside.join();
    }
    EXPECT_GT(said, 700U);
    EXPECT_LT(said, 20'000U);
  });
}

TEST_P(mysql_tls_test, knows_a_server_that_is_full_by_its_number) {
  run([&](connection& administrator) -> task<void> {
    EXPECT_TRUE(co_await administrator.run("SET GLOBAL max_connections = 10"));
    std::vector<std::unique_ptr<connection>> taken;
    bool is_full = false;
    while (!is_full && taken.size() < 20) {
      taken.push_back(std::make_unique<connection>(*loop_));
      is_full = !co_await taken.back()->open(server_.tcp(), secured(tls_mode::verify), "db.test");
    }
    EXPECT_EQ(taken.back()->server_error(), 1040U) << taken.back()->last_failure().message;
    EXPECT_EQ(taken.back()->last_failure().kind, failure_kind::busy);
    taken.clear();
    EXPECT_TRUE(co_await administrator.run("SET GLOBAL max_connections = 100"));
  });
}

TEST_P(mysql_tls_test, a_handshake_ends_with_its_deadline) {
  run([&](connection&) -> task<void> {
    constexpr std::size_t greeting_and_some = 200;
    stalling_proxy proxy{*loop_, server_.tcp(), greeting_and_some};
    scope beside{co_await this_task::environment()};
    beside.spawn(proxy.serve_one());
    connection made{*loop_};
    const auto opened =
        co_await with_timeout(std::chrono::milliseconds{100},
                              made.open(proxy.address(), secured(tls_mode::verify), "db.test"));
    EXPECT_FALSE(opened);
    if (!opened) EXPECT_EQ(opened.error(), errc::timed_out);
    EXPECT_FALSE(made.is_open());
    co_await beside.join();
  });
}

}  // namespace
}  // namespace weft::store::mysql
