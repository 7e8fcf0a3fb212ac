#include <weft/store/mysql/login.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include <mariadb/mysql.h>

#include <weft/base/format.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/server_address.hpp>
#include <weft/store/mysql/server_proof.hpp>

namespace weft::store::mysql {
namespace {

/// False: there is no memory for it.
bool name_files(MYSQL* handle, const tls_options& tls) {
  const auto name = [handle](mysql_option option, const std::string& file) {
    return file.empty() || mysql_options(handle, option, file.c_str()) == 0;
  };
  // With an authority 3.3 looks at certificates, also where nobody has asked for that.
  const bool judges = tls.mode != tls_mode::required;
  return mysql_options(handle, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3") == 0 &&
         (!judges || (name(MYSQL_OPT_SSL_CA, tls.ca) && name(MYSQL_OPT_SSL_CRL, tls.crl))) &&
         name(MYSQL_OPT_SSL_CERT, tls.certificate) && name(MYSQL_OPT_SSL_KEY, tls.key);
}

}  // namespace

login::login(const net::endpoint& where, const connection_options& options)
    : options_{options}, port_{where.port()} {
  const std::string text = where.to_string();
  if (where.family() == AF_UNIX)
    path_ = text.substr(std::string_view{"unix:"}.size());
  else
    host_ = host_of(text);
}

result<void> login::prepare(MYSQL* handle) const {
  const bool is_secured = options_.tls.mode != tls_mode::off;
  const unsigned protocol = is_unix() ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
  const unsigned no_files = 0;
  const my_bool no = 0;
  const my_bool wants_tls = is_secured ? 1 : 0;
  const bool is_ready =
      mysql_options(handle, MYSQL_OPT_NONBLOCK, nullptr) == 0 &&
      mysql_options(handle, MYSQL_OPT_PROTOCOL, &protocol) == 0 &&
      mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &wants_tls) == 0 &&
      // From 3.4 on the library speaks TLS unless it is told that it need not
      // look at certificates: server_proof.hpp does.
      mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no) == 0 &&
      mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &no_files) == 0 &&
      mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0 &&
      mysql_options(handle, MYSQL_OPT_MAX_ALLOWED_PACKET, &options_.row_bytes_max) == 0 &&
      mysql_optionsv(handle, MARIADB_OPT_RESTRICTED_AUTH,
                     is_secured ? proof_method : login_methods) == 0;
  if (!is_ready || (is_secured && !name_files(handle, options_.tls))) return fail(errc::exhausted);
  return {};
}

int login::start(MYSQL** connected, MYSQL* handle) const {
  const std::string& database = options_.database;
  return mysql_real_connect_start(connected, handle, is_unix() ? nullptr : host_.c_str(),
                                  options_.user.c_str(), options_.password.c_str(),
                                  database.empty() ? nullptr : database.c_str(), port_,
                                  is_unix() ? path_.c_str() : nullptr, CLIENT_FOUND_ROWS);
}

void watch_network(int fd, duration silence_max) noexcept {
  using std::chrono::ceil;
  const auto set = [fd](int level, int option, auto value) noexcept {
    const int number = static_cast<int>(value);
    // Without it a dead network is noticed later, by a deadline.
    ::setsockopt(fd, level, option, &number, sizeof(number));
  };
  // What was sent is to be acknowledged, and, while an answer is waited for, so are these.
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, ceil<std::chrono::milliseconds>(silence_max).count());
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE,
      std::max<std::int64_t>(1, ceil<std::chrono::seconds>(silence_max).count() / 2));
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
}

std::string session_setup(bool is_mariadb, duration statement_time) {
  std::string text = weft::format(
      "SET SESSION character_set_client=utf8mb4, character_set_connection=utf8mb4, "
      "character_set_results=utf8mb4, autocommit=1, sql_safe_updates=0, sql_big_selects=1, "
      "completion_type=0, sql_select_limit=18446744073709551615, "
      "time_zone='+00:00', "
      "sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO', "
      "{}='READ-COMMITTED'",
      is_mariadb ? "tx_isolation" : "transaction_isolation");
  if (statement_time <= duration::zero()) return text;
  const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(statement_time).count();
  if (is_mariadb)
    text += weft::format(", max_statement_time={}", static_cast<double>(limit_ms) / 1000);
  else
    // Which is of reads alone: what writes may wait for is the locks of others.
    text += weft::format(", max_execution_time={}, innodb_lock_wait_timeout={}", limit_ms,
                         std::max<std::int64_t>(1, limit_ms / 1000));
  return text;
}

}  // namespace weft::store::mysql
