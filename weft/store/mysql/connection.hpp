// One connection to a server that speaks MySQL's protocol, on the shard's own loop.
//
// Problem: MariaDB Connector/C waits for the network. Its non-blocking calls run on a stack of the
// connection's own (60 KiB) and come back where they would wait; the loop watches the socket, and
// goes on with them. Contract: of one shard; one call at a time, and what a call is given by
// reference stays until it has ended. No call waits longer than its task may: a stop request or a
// deadline that comes before it begins gives errc::cancelled or errc::timed_out and changes
// nothing; one that comes while it waits cuts the connection off, whose state nobody knows then, so
// that it is closed (what the server has begun, it may well finish). An answer that was there first
// is given. A call on a closed connection is errc::closed. Why one failed, last_failure() says; a
// failure that the server tells of leaves the connection open, unless it was about the connection.
// Results are read whole before they are given, so bound them by LIMIT, or take row by row.
// decisions/0015-mysql-by-connector-c.md.
//
//   connection server{loop};
//   auto opened = co_await server.open(where, {.user = "shop", .password = "secret"});
//   if (!opened) log::error(server.last_failure().message);
//   auto find = co_await server.prepare("SELECT name FROM shop.orders WHERE id = ?");
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/store/failure.hpp>
#include <weft/store/mysql/statement.hpp>
#include <weft/store/mysql/statement_cache.hpp>

struct st_mysql;
struct st_mysql_stmt;

namespace weft {
class event_loop;
}

namespace weft::store::mysql {

struct connection_options {
  std::string user;
  std::string password{};
  /// What names without a database are of; none: they are not known.
  std::string database{};
  /// After which the server itself ends a statement (errc::unavailable, failure_kind::busy), where
  /// it can: MariaDB all, MySQL those that only read. Zero: it does not.
  duration statement_time = duration::zero();
  /// Statements that prepared() keeps.
  std::size_t statements_max = 64;
};

class connection {
 public:
  /// `loop` outlives it.
  explicit connection(event_loop& loop) noexcept : loop_{loop} {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  /// Says goodbye to the server, which needs no reply.
  ~connection();

  /// Texts are UTF-8 from then on, times are UTC, what does not fit a column is refused, and rows
  /// are counted that were found, whether they changed or not. Each statement sees what was
  /// committed when it began (READ COMMITTED). The server is not let read files of this machine,
  /// nor ask for the password in clear text.
  [[nodiscard]] task<result<void>> open(const net::endpoint& where,
                                        const connection_options& options);
  [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr; }
  void close() noexcept;

  /// One statement; rows that it gives are dropped. How many it changed.
  [[nodiscard]] task<result<std::uint64_t>> run(std::string_view text);
  [[nodiscard]] task<result<statement>> prepare(std::string_view text);
  /// As prepare(), of a statement that the connection keeps: asks the server only for one that is
  /// not kept yet. Good until the next call of this or open().
  [[nodiscard]] task<result<statement*>> prepared(std::string_view text);
  /// `to_run` is of this connection. errc::invalid_argument: it has another number of parameters.
  [[nodiscard]] task<result<void>> execute(statement& to_run, std::span<const value> parameters);
  /// As execute(), whose rows fetch() gives one by one: until the last, the connection does nothing
  /// else, and who wants no more of them closes it.
  [[nodiscard]] task<result<void>> begin(statement& to_run, std::span<const value> parameters);
  /// Whether there is one more row, which is to_run.row() then.
  [[nodiscard]] task<result<bool>> fetch(statement& to_run);
  /// Names without a database are of this one from now on. Asks the server where it was another.
  [[nodiscard]] task<result<void>> use(std::string_view database);
  /// Whether the server is there.
  [[nodiscard]] task<result<void>> ping();

  /// Calls that have asked the server something and waited for what it says.
  [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_; }
  /// Why the last call that failed did so. Good until the next call.
  [[nodiscard]] failure last_failure() const noexcept { return {failure_kind_, failure_text_}; }
  /// The number that the server gave it (1062: a duplicate key); 0: it was not the server's.
  [[nodiscard]] unsigned server_error() const noexcept { return server_error_; }

 private:
  class call;
  template <class GoOn>
  task<result<void>> see_through(int status, GoOn go_on);
  /// Why no call may begin now.
  [[nodiscard]] result<void> admit(const environment& env) noexcept;
  [[nodiscard]] result<void> make_handle(bool is_unix);
  task<result<void>> log_in(const net::endpoint& where, const connection_options& options);
  task<result<void>> start(statement& to_run, std::span<const value> parameters);
  /// Reads the results of a statement's text, and drops their rows.
  task<result<std::uint64_t>> drop_results();
  /// What a call came to that was seen through so, and that the library says has failed or not.
  [[nodiscard]] result<void> settle(result<void> seen_through, bool has_failed);
  [[nodiscard]] result<void> settle(result<void> seen_through, bool has_failed, st_mysql_stmt* of);
  [[nodiscard]] result<void> settle_failure(unsigned number, const char* state,
                                            const char* message);
  [[nodiscard]] result<void> settle_cut(error why);

  event_loop& loop_;
  st_mysql* handle_ = nullptr;
  statement_cache statements_{0};
  std::string database_;  // in use
  std::uint64_t round_trips_ = 0;
  bool is_at_work_ = false;
  unsigned server_error_ = 0;
  failure_kind failure_kind_ = failure_kind::other;
  std::string failure_text_;
};

}  // namespace weft::store::mysql
