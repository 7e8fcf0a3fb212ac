#include <weft/store/mysql/connection.hpp>

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <mariadb/mysql.h>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/library.hpp>
#include <weft/store/mysql/server_errors.hpp>

namespace weft::store::mysql {
namespace {

struct statement_end {
  void operator()(MYSQL_STMT* ended) const noexcept { mysql_stmt_close(ended); }
};
struct result_end {
  void operator()(MYSQL_RES* ended) const noexcept { mysql_free_result(ended); }
};

/// "127.0.0.1" or "::1" of an endpoint's text, so that the library has no name to look up.
std::string host_of(std::string_view text) {
  text = text.substr(0, text.rfind(':'));
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  return std::string{text};
}

/// Those that do not show the password to who listens, or only says that it is the server. Others
/// are refused.
constexpr const char* authentications =
    "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password";

/// What the statements of this engine rely on. Zero days stay what they are: they are told, and
/// to_value() makes none.
std::string session_setup(bool is_mariadb, duration statement_time) {
  std::string text = weft::format(
      "SET SESSION autocommit=1, completion_type=0, sql_select_limit=18446744073709551615, "
      "time_zone='+00:00', "
      "sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO', "
      "{}='READ-COMMITTED'",
      is_mariadb ? "tx_isolation" : "transaction_isolation");
  if (statement_time <= duration::zero()) return text;
  const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(statement_time).count();
  if (is_mariadb)
    text += weft::format(", max_statement_time={}", static_cast<double>(limit_ms) / 1000);
  else
    text += weft::format(", max_execution_time={}", limit_ms);
  return text;
}

}  // namespace

/// One call at a time.
class connection::call {
 public:
  /// `asks`: the server waits for it, rather than that it says something anyhow.
  explicit call(connection& on, bool asks = true) noexcept : on_{on} {
    WEFT_ASSERT(!on_.is_at_work_, "a connection does one thing at a time: await its last call");
    on_.is_at_work_ = true;
    on_.server_error_ = 0;
    on_.round_trips_ += asks ? 1 : 0;
  }
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  ~call() { on_.is_at_work_ = false; }

 private:
  connection& on_;
};

connection::~connection() {
  WEFT_ASSERT(!is_at_work_, "a connection outlives its calls: await the last one");
  close();
}

void connection::close() noexcept {
  if (handle_ != nullptr) mysql_close(std::exchange(handle_, nullptr));
}

/// Goes on with a call of the library as often as it would wait. One that may wait no longer is not
/// left where it stands: with its socket shut down it comes to an end by itself.
template <class GoOn>
task<result<void>> connection::see_through(int status, GoOn go_on) {
  result<void> outcome;
  while (status != 0) {
    const int fd = mysql_get_socket(handle_);
    if (outcome)
      outcome = co_await poll_wait{
          loop_,
          (status & MYSQL_WAIT_READ) != 0 ? operation_kind::readable : operation_kind::writable,
          fd};
    if (outcome) {
      status = go_on(status & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE));
    } else {
      ::shutdown(fd, SHUT_RDWR);
      status = go_on(status | MYSQL_WAIT_TIMEOUT);
    }
  }
  co_return outcome;
}

result<void> connection::admit(const environment& env) noexcept {
  if (env.stop.stop_requested()) return fail(errc::cancelled);
  if (env.until.passed(loop_.now())) return fail(errc::timed_out);
  if (handle_ == nullptr) return fail(errc::closed);
  return {};
}

result<void> connection::make_handle(bool is_unix) {
  if (auto ready = prepare_library(); !ready) return ready;
  handle_ = mysql_init(nullptr);
  if (handle_ == nullptr) return fail(errc::exhausted);
  const unsigned protocol = is_unix ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
  const unsigned no_files = 0;
  const my_bool no = 0;
  const bool is_ready =
      mysql_options(handle_, MYSQL_OPT_NONBLOCK, nullptr) == 0 &&
      mysql_options(handle_, MYSQL_OPT_PROTOCOL, &protocol) == 0 &&
      // From 3.4 on the library speaks TLS unless it is told that no certificate is asked for.
      mysql_options(handle_, MYSQL_OPT_SSL_ENFORCE, &no) == 0 &&
      mysql_options(handle_, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no) == 0 &&
      mysql_options(handle_, MYSQL_OPT_LOCAL_INFILE, &no_files) == 0 &&
      mysql_options(handle_, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0 &&
      mysql_optionsv(handle_, MARIADB_OPT_RESTRICTED_AUTH, authentications) == 0;
  if (is_ready) return {};
  close();
  return fail(errc::exhausted);
}

result<void> connection::settle_cut(error why) {
  failure_kind_ = failure_kind::input_output;
  failure_text_ =
      weft::format("the connection was cut off in the middle of a call: {}", why.message());
  close();
  return fail(why);
}

result<void> connection::settle_failure(unsigned number, const char* state, const char* message) {
  const bool is_of_server = mysql::is_of_server(number);
  server_error_ = is_of_server ? number : 0;
  failure_kind_ = kind_of(number);
  failure_text_ =
      is_of_server
          ? weft::format("{} (error {} of the server, SQL state {})", message, number, state)
          : weft::format("{} (error {} of the way to the server)", message, number);
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

task<result<void>> connection::open(const net::endpoint& where, const connection_options& options) {
  if (const auto in = co_await log_in(where, options); !in) co_return in;
  const bool is_mariadb = mariadb_connection(handle_) != 0;
  const auto ready = co_await run(session_setup(is_mariadb, options.statement_time));
  if (ready) co_return {};
  close();
  co_return fail(ready.error());
}

task<result<void>> connection::log_in(const net::endpoint& where,
                                      const connection_options& options) {
  const call under_way{*this};
  close();
  statements_.clear();
  statements_.set_most(options.statements_max);
  database_ = options.database;
  const bool is_unix = where.family() == AF_UNIX;
  if (auto made = make_handle(is_unix); !made) co_return made;
  if (auto admitted = admit(co_await this_task::environment()); !admitted) {
    close();
    co_return admitted;
  }
  const std::string text = where.to_string();
  const std::string path = is_unix ? text.substr(std::string_view{"unix:"}.size()) : "";
  const std::string host = is_unix ? "" : host_of(text);
  MYSQL* connected = nullptr;
  const int status = mysql_real_connect_start(
      &connected, handle_, is_unix ? nullptr : host.c_str(), options.user.c_str(),
      options.password.c_str(), options.database.empty() ? nullptr : options.database.c_str(),
      where.port(), is_unix ? path.c_str() : nullptr, CLIENT_FOUND_ROWS);
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_real_connect_cont(&connected, handle_, ready); });
  auto outcome = settle(seen, connected == nullptr);
  if (!outcome) close();
  co_return outcome;
}

task<result<std::uint64_t>> connection::run(std::string_view text) {
  const call under_way{*this};
  if (auto admitted = admit(co_await this_task::environment()); !admitted)
    co_return fail(admitted.error());
  int failed = 0;
  const int status = mysql_real_query_start(&failed, handle_, text.data(), text.size());
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_real_query_cont(&failed, handle_, ready); });
  if (auto asked = settle(seen, failed != 0); !asked) co_return fail(asked.error());
  co_return co_await drop_results();
}

task<result<std::uint64_t>> connection::drop_results() {
  std::uint64_t changed = 0;
  while (true) {
    if (mysql_field_count(handle_) == 0) {
      changed = mysql_affected_rows(handle_);
    } else {
      MYSQL_RES* rows = nullptr;
      const int status = mysql_store_result_start(&rows, handle_);
      const auto seen = co_await see_through(
          status, [&](int ready) { return mysql_store_result_cont(&rows, handle_, ready); });
      const std::unique_ptr<MYSQL_RES, result_end> dropped{rows};
      if (auto read = settle(seen, rows == nullptr); !read) co_return fail(read.error());
    }
    if (mysql_more_results(handle_) == 0) co_return changed;
    int failed = 0;
    const int status = mysql_next_result_start(&failed, handle_);
    const auto seen = co_await see_through(
        status, [&](int ready) { return mysql_next_result_cont(&failed, handle_, ready); });
    if (auto next = settle(seen, failed > 0); !next) co_return fail(next.error());
  }
}

task<result<statement>> connection::prepare(std::string_view text) {
  const call under_way{*this};
  if (auto admitted = admit(co_await this_task::environment()); !admitted)
    co_return fail(admitted.error());
  std::unique_ptr<MYSQL_STMT, statement_end> made{mysql_stmt_init(handle_)};
  const my_bool yes = 1;
  if (made == nullptr || mysql_stmt_attr_set(made.get(), STMT_ATTR_UPDATE_MAX_LENGTH, &yes) != 0)
    co_return fail(errc::exhausted);
  int failed = 0;
  const int status = mysql_stmt_prepare_start(&failed, made.get(), text.data(), text.size());
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_stmt_prepare_cont(&failed, made.get(), ready); });
  if (auto prepared = settle(seen, failed != 0, made.get()); !prepared)
    co_return fail(prepared.error());
  co_return statement{made.release()};
}

task<result<statement*>> connection::prepared(std::string_view text) {
  if (statement* const known = statements_.find(text)) co_return known;
  auto made = co_await prepare(text);
  if (!made) co_return fail(made.error());
  co_return &statements_.keep(std::string{text}, std::move(*made));
}

task<result<void>> connection::start(statement& to_run, std::span<const value> parameters) {
  if (auto admitted = admit(co_await this_task::environment()); !admitted) co_return admitted;
  MYSQL_STMT* const asked = to_run.get();
  if (asked->mysql != handle_) co_return fail(errc::closed);
  if (parameters.size() != to_run.parameters()) co_return fail(errc::invalid_argument);
  to_run.bind(parameters);
  int failed = 0;
  const int status = mysql_stmt_execute_start(&failed, asked);
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_stmt_execute_cont(&failed, asked, ready); });
  co_return settle(seen, failed != 0, asked);
}

task<result<void>> connection::execute(statement& to_run, std::span<const value> parameters) {
  const call under_way{*this};
  if (const auto ran = co_await start(to_run, parameters); !ran) co_return ran;
  MYSQL_STMT* const asked = to_run.get();
  if (mysql_stmt_field_count(asked) != 0) {
    int failed = 0;
    const int status = mysql_stmt_store_result_start(&failed, asked);
    const auto seen = co_await see_through(
        status, [&](int ready) { return mysql_stmt_store_result_cont(&failed, asked, ready); });
    if (auto stored = settle(seen, failed != 0, asked); !stored) co_return stored;
  }
  to_run.take_result();
  co_return result<void>{};
}

task<result<void>> connection::begin(statement& to_run, std::span<const value> parameters) {
  const call under_way{*this};
  if (const auto ran = co_await start(to_run, parameters); !ran) co_return ran;
  to_run.take_rows_one_by_one();
  co_return result<void>{};
}

task<result<bool>> connection::fetch(statement& to_run) {
  const call under_way{*this, false};
  if (auto admitted = admit(co_await this_task::environment()); !admitted)
    co_return fail(admitted.error());
  MYSQL_STMT* const asked = to_run.get();
  int told = 0;
  const int status = mysql_stmt_fetch_start(&told, asked);
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_stmt_fetch_cont(&told, asked, ready); });
  if (auto read = settle(seen, told == 1, asked); !read) co_return fail(read.error());
  if (told == MYSQL_NO_DATA) co_return false;
  to_run.take_next_row();
  co_return true;
}

task<result<void>> connection::use(std::string_view database) {
  if (database == database_) co_return result<void>{};
  std::string text = "USE `";
  for (const char c : database) text.append(c == '`' ? 2 : 1, c);
  text += '`';
  const auto used = co_await run(text);
  if (!used) co_return fail(used.error());
  database_ = database;
  co_return result<void>{};
}

task<result<void>> connection::ping() {
  const call under_way{*this};
  if (auto admitted = admit(co_await this_task::environment()); !admitted) co_return admitted;
  int failed = 0;
  const int status = mysql_ping_start(&failed, handle_);
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_ping_cont(&failed, handle_, ready); });
  co_return settle(seen, failed != 0);
}

}  // namespace weft::store::mysql
