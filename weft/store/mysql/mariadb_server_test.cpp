#include <weft/store/mysql/mariadb_server_test.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace weft::store::mysql {

mariadb_server& mariadb_server::shared() {
  static mariadb_server only;
  return only;
}

mariadb_server& mariadb_server::other() {
  static mariadb_server second;
  return second;
}

mariadb_server::mariadb_server() {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, to[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, from[1], STDOUT_FILENO);
  std::string script = "tests/system/mariadb_server.py";  // from where ctest runs tests
  std::string python = "/usr/bin/python3";
  const net::tls_certificate shown = authority_.issue(subject_name, {.names = {"db.test"}});
  std::string certificate = "--ssl-cert=" + shown.certificate;
  std::string key = "--ssl-key=" + shown.key;
  std::string ca = "--ssl-ca=" + authority_.ca();
  char* const arguments[] = {python.data(), script.data(), certificate.data(),
                             key.data(),    ca.data(),     nullptr};
  const int fault = ::posix_spawn(&process_, python.c_str(), &files, nullptr, arguments, ::environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
  if (fault != 0) {
    process_ = -1;
    missing_ = "python3 cannot be run";
    return;
  }
  read_state();
}

mariadb_server::~mariadb_server() {
  ::close(input_);
  ::close(output_);
  if (process_ != -1) ::waitpid(process_, nullptr, 0);
}

net::endpoint mariadb_server::unix_socket() const {
  return *net::endpoint::parse("unix:" + socket_);
}

net::endpoint mariadb_server::tcp() const {
  return net::endpoint::loopback(static_cast<std::uint16_t>(port_));
}

connection_options mariadb_server::account() {
  return {.user = "weft", .password = "secret", .database = "shop"};
}

void mariadb_server::tell(const std::string& line) {
  EXPECT_EQ(::write(input_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  read_state();
}

/// "ready SOCKET PORT" or "unavailable WHY".
void mariadb_server::read_state() {
  std::string line;
  char next = 0;
  while (::read(output_, &next, 1) == 1 && next != '\n') line += next;
  const std::string ready = "ready ";
  const std::string unavailable = "unavailable ";
  if (line.starts_with(ready)) {
    const std::size_t middle = line.rfind(' ');
    socket_ = line.substr(ready.size(), middle - ready.size());
    port_ = std::atoi(line.c_str() + middle);
  } else if (line.starts_with(unavailable)) {
    missing_ = line.substr(unavailable.size());
  } else {
    ADD_FAILURE() << "no server: " << line;
    missing_ = "the server did not start";
  }
}

std::string text_of(statement& ran) {
  std::string text;
  while (ran.next()) {
    if (!text.empty()) text += '|';
    std::string_view between;
    for (const value& each : ran.row()) {
      text += between;
      between = " ";
      switch (each.kind()) {
        case value_kind::null: text += "NULL"; break;
        case value_kind::int64: text += std::to_string(each.as_integer()); break;
        case value_kind::uint64: text += std::to_string(each.as_natural()) + "u"; break;
        case value_kind::float64: text += std::to_string(each.as_real()); break;
        case value_kind::text: text += "'" + std::string{each.as_text()} + "'"; break;
        case value_kind::bytes: text += "b'" + std::string{each.as_text()} + "'"; break;
      }
    }
  }
  return text;
}

task<std::string> ask(connection& server, std::string_view text, std::vector<value> parameters) {
  auto prepared = co_await server.prepare(text);
  if (!prepared) co_return std::string{server.last_failure().message};
  auto ran = co_await server.execute(*prepared, parameters);
  if (!ran) co_return std::string{server.last_failure().message};
  co_return text_of(*prepared);
}

}  // namespace weft::store::mysql
