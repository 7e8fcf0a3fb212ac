// What becomes of calls that fail, or are not to begin.

#include <string>
#include <string_view>
#include <utility>

#include <mariadb/errmsg.h>
#include <mariadb/mysql.h>
#include <mariadb/mysqld_error.h>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/mysql/server_proof.hpp>

namespace weft::store::mysql {
namespace {

/// The library says of a row that it has no room for that the connection was lost.
bool is_of_large_row(const MYSQL& by, unsigned number) noexcept {
  constexpr int no_room = 1;  // where the network has failed it is 2
  return number == CR_SERVER_LOST && by.net.error == no_room;
}

failure_kind kind_of_cut(error why) noexcept {
  if (why == errc::exhausted) return failure_kind::no_memory;
  if (why == errc::limit_exceeded) return failure_kind::too_large;
  return failure_kind::input_output;
}

}  // namespace

result<void> connection::admit_bytes(std::size_t bytes) {
  if (bytes_max_ == 0 || bytes <= bytes_max_) return {};
  server_error_ = ER_NET_PACKET_TOO_LARGE;
  failure_kind_ = failure_kind::too_large;
  public_text_ = {};
  failure_text_ = weft::format(
      "{} bytes are more than the database server takes at once, which is {}: send less, or raise "
      "max_allowed_packet there",
      bytes, bytes_max_);
  return fail(errc::invalid_argument);
}

void connection::log_failure() {
  if (failure_text_ == logged_) return;
  log::warning("the server of the rows refuses: " + failure_text_);
  logged_ = failure_text_;
}

result<void> connection::settle_cut(error why) {
  failure_kind_ = kind_of_cut(why);
  public_text_ = {};
  failure_text_ =
      weft::format("the connection was cut off in the middle of a call: {}", why.message());
  close();
  return fail(why);
}

result<void> connection::settle_failure(unsigned number, const char* state, const char* message) {
  number = number_before_tls(number, message);
  if (is_of_large_row(*handle_, number)) {
    number = CR_NET_PACKET_TOO_LARGE;
    message = "a row has more bytes than the connection takes";
  }
  const bool is_of_server = mysql::is_of_server(number);
  server_error_ = is_of_server ? number : 0;
  has_met_read_only_ = has_met_read_only_ || number == ER_OPTION_PREVENTS_STATEMENT;
  failure_kind_ = kind_of(number);
  failure_text_ =
      is_of_server
          ? weft::format("{} (error {} of the server, SQL state {})", message, number, state)
          : weft::format("{} (error {} of the way to the server)", message, number);
  public_text_ = is_of_server ? public_text(number, message) : "";
  if (!public_text_.empty() && is_logged_in_) log_failure();
  if (number == CR_SSL_CONNECTION_ERROR)
    if (const std::string_view remedy = remedy_of(message); !remedy.empty())
      failure_text_.append(": ").append(remedy);
  if (ends_connection(number)) close();
  return fail(code_of(number));
}

result<void> connection::settle(result<void> seen_through, bool has_failed) {
  if (!seen_through) return settle_cut(seen_through.error());
  if (!has_failed) return {};
  return settle_failure(mysql_errno(handle_), mysql_sqlstate(handle_), mysql_error(handle_));
}

result<void> connection::settle(result<void> seen_through, bool has_failed, MYSQL_STMT* of) {
  if (!seen_through) return settle_cut(seen_through.error());
  if (!has_failed) return {};
  // Of rows that come one by one the connection alone knows.
  if (mysql_stmt_errno(of) == 0) return settle(seen_through, has_failed);
  return settle_failure(mysql_stmt_errno(of), mysql_stmt_sqlstate(of), mysql_stmt_error(of));
}

}  // namespace weft::store::mysql
