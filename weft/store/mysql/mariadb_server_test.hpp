// A MariaDB for the tests of this engine: one a test program, started by the first who asks, in a
// temporary folder (tests/system/mariadb_server.py), and ended with the program.
//
//   auto& server = mariadb_server::shared();
//   if (const std::string& why = server.missing(); !why.empty()) GTEST_SKIP() << why;
//   co_await connection.open(server.unix_socket(), server.account());
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/loop_fixture_test.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/store/mysql/connection.hpp>

namespace weft::store::mysql {

class mariadb_server {
 public:
  static mariadb_server& shared();
  /// A second one, with nothing in it but what a test puts there.
  static mariadb_server& other();
  mariadb_server(const mariadb_server&) = delete;
  mariadb_server& operator=(const mariadb_server&) = delete;
  ~mariadb_server();

  /// Why there is none; empty: there is one.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }
  [[nodiscard]] net::endpoint unix_socket() const;
  [[nodiscard]] net::endpoint tcp() const;
  /// May do everything.
  [[nodiscard]] static connection_options account();
  /// Who has signed its certificate, which is made out to db.test.
  [[nodiscard]] net::test_authority& authority() noexcept { return authority_; }
  /// It has another from its next FLUSH SSL on.
  void certify(const net::test_subject& subject) { authority_.issue(subject_name, subject); }

  /// As a crash would.
  void kill() { tell("kill\n"); }
  void start() { tell("start\n"); }

 private:
  static constexpr const char* subject_name = "mariadb";
  mariadb_server();
  void tell(const std::string& line);
  void read_state();

  net::test_authority authority_;
  int input_ = -1;
  int output_ = -1;
  int process_ = -1;
  std::string missing_;
  std::string socket_;
  int port_ = 0;
};

/// "17 'abc' NULL|...": the rows of a run; unsigned numbers end in u, bytes begin with b.
[[nodiscard]] std::string text_of(statement& ran);
/// The rows of a statement, or why there are none.
[[nodiscard]] task<std::string> ask(connection& server, std::string_view text,
                                    std::vector<value> parameters = {});

/// A loop on a backend of the kernel's, and a server.
class mysql_fixture : public on_any_backend {
 protected:
  void SetUp() override {
    if (const std::string& why = server_.missing(); !why.empty()) GTEST_SKIP() << why;
    on_any_backend::SetUp();
  }

  /// Runs `body` with a connection that is open.
  template <class Body>
  void run(Body body) {
    loop_->spawn(with_connection(body));
    loop_->run();
  }

  mariadb_server& server_ = mariadb_server::shared();

 private:
  template <class Body>
  task<void> with_connection(Body& body) {
    connection made{*loop_};
    auto opened = co_await made.open(server_.unix_socket(), mariadb_server::account());
    EXPECT_TRUE(opened) << made.last_failure().message;
    if (opened) co_await body(made);
  }
};

}  // namespace weft::store::mysql
