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
// Results are read whole before they are given, so bound them by LIMIT, or take row by row. A row
// of more than 64 KiB is read once the loop's memory has room for it and for what is made of it,
// which is waited for a second: else the connection is closed, as errc::exhausted and
// failure_kind::no_memory, or, where there never is so much, as errc::limit_exceeded.
// decisions/0015-mysql-by-connector-c.md.
//
//   connection server{loop};
//   auto opened = co_await server.open(where, {.user = "shop", .password = "secret"});
//   if (!opened) log::error(server.last_failure().message);
//   auto find = co_await server.prepare("SELECT name FROM shop.orders WHERE id = ?");
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/store/failure.hpp>
#include <weft/store/mysql/statement.hpp>
#include <weft/store/mysql/statement_cache.hpp>
#include <weft/store/mysql/tls_options.hpp>

struct st_mysql;
struct st_mysql_res;
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
  /// How long the network may be silent, where it owes an answer, before the connection is lost:
  /// not the server, which may take its time. Zero: as long as the system says, so many minutes.
  duration silence_max = duration::zero();
  /// A row with more ends the connection, as errc::limit_exceeded and failure_kind::too_large.
  /// Zero: the library has a bound of its own, 1 GiB.
  std::size_t row_bytes_max = 0;
  /// Statements that prepared() keeps.
  std::size_t statements_max = 64;
  tls_options tls{};
  /// Of several connections to a server, on one shard; outlives them. nullptr: it shares none.
  statement_room* room = nullptr;
};

/// How the memory for a long row is waited for.
enum class row_wait : std::uint8_t {
  in_line,
  ahead,  // of those that hold none yet: for one more row of several that are given together
  none,   // since nobody wants the row: it ends the connection, as errc::exhausted
};

class login;
class packet_gate;

class connection {
 public:
  /// `loop` outlives it.
  explicit connection(event_loop& loop) noexcept;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  /// Says goodbye to the server, which needs no reply.
  ~connection();

  /// Texts are UTF-8 from then on, times are UTC, what does not fit a column is refused, and rows
  /// are counted that were found, whether they changed or not. Each statement sees what was
  /// committed when it began (READ COMMITTED). The server is not let read files of this machine,
  /// nor ask for the password in clear text. `name`: by which `where` was found, which TLS has the
  /// server prove; empty: its address. With TLS a thread of blocking() logs in. errc::unavailable:
  /// it is there, but serves nobody.
  [[nodiscard]] borrowing_task<result<void>> open(const net::endpoint& where WEFT_LIFETIME_BOUND,
                                                  const connection_options& options
                                                      WEFT_LIFETIME_BOUND,
                                                  std::string_view name WEFT_LIFETIME_BOUND = {});
  [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr; }
  void close() noexcept;
  /// Gives back the memory of the last row. Its values are gone.
  void give_back_row() noexcept;

  /// One statement; rows that it gives are dropped. How many it changed.
  [[nodiscard]] borrowing_task<result<std::uint64_t>> run(
      std::string_view text WEFT_LIFETIME_BOUND);
  [[nodiscard]] borrowing_task<result<statement>> prepare(
      std::string_view text WEFT_LIFETIME_BOUND);
  /// As prepare(), of a statement that the connection keeps: asks the server only for one that is
  /// not kept yet. Good until the next call of this, prepare() or open(). Where the server has no
  /// room for one more (failure_kind::busy), others are given up first.
  [[nodiscard]] borrowing_task<result<statement*>> prepared(
      std::string_view text WEFT_LIFETIME_BOUND);
  /// `to_run` is of this connection. errc::invalid_argument: it has another number of parameters.
  [[nodiscard]] borrowing_task<result<void>> execute(
      statement& to_run, std::span<const value> parameters WEFT_LIFETIME_BOUND);
  /// As execute(), whose rows fetch() gives one by one: until the last, the connection does nothing
  /// else, and who wants no more of them closes it.
  [[nodiscard]] borrowing_task<result<void>> begin(
      statement& to_run, std::span<const value> parameters WEFT_LIFETIME_BOUND);
  class next_row;
  /// Awaitable: whether there is one more row, which is to_run.row() then. One that has come
  /// already costs no coroutine.
  [[nodiscard]] next_row fetch(statement& to_run, row_wait by = row_wait::in_line) noexcept;
  /// Of the row that was fetched last: whether memory was reserved for what is made of it.
  [[nodiscard]] bool has_long_row() const noexcept { return static_cast<bool>(row_memory_); }
  /// Of that memory. It has as much as a copy of the row and told_bytes() of it need.
  [[nodiscard]] memory_reservation take_row_memory(std::size_t size_bytes) noexcept {
    return row_memory_.split(size_bytes, memory_kind::queries);
  }
  /// Of a call that has failed as errc::limit_exceeded: there never is the memory for its row.
  [[nodiscard]] bool was_row_beyond_memory() const noexcept { return was_row_beyond_memory_; }
  /// Names without a database are of this one from now on. Asks the server where it was another.
  [[nodiscard]] borrowing_task<result<void>> use(std::string_view database WEFT_LIFETIME_BOUND);
  /// Whether the server is there, and serves: a node that its cluster is without answers to all but
  /// statements.
  [[nodiscard]] task<result<void>> ping();

  /// Whether the server has refused something, since this was asked last, because it only reads.
  [[nodiscard]] bool take_read_only_refusal() noexcept {
    return std::exchange(has_met_read_only_, false);
  }
  /// Whether the server has ended it, as far as that has come here already: asks nobody.
  [[nodiscard]] bool has_ended() const noexcept;
  /// By which its server knows it, of one that is open.
  [[nodiscard]] std::uint64_t id() const noexcept;

  /// Calls that have asked the server something and waited for what it says.
  [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_; }
  /// Why the last call that failed did so, in words for whoever asks for rows: what names accounts
  /// and machines is kept for the log, which is told of it. Good until the next call.
  [[nodiscard]] failure last_failure() const noexcept {
    return {failure_kind_, public_text_.empty() ? std::string_view{failure_text_} : public_text_};
  }
  /// In words for the log.
  [[nodiscard]] const std::string& failure_for_log() const noexcept { return failure_text_; }
  /// The number that the server gave it (1062: a duplicate key), or would have given what was not
  /// sent to it for its size (1153); 0: it was not the server's.
  [[nodiscard]] unsigned server_error() const noexcept { return server_error_; }

 private:
  class call;
  template <class GoOn>
  task<result<void>> see_through(int status, GoOn go_on);
  /// Why no call may begin now.
  [[nodiscard]] result<void> admit(const environment& env) noexcept;
  /// Why a statement or its values, of so many bytes at least, are not to be sent: a server ends
  /// the connection in the middle of what it does not take, and why may be lost with that.
  [[nodiscard]] result<void> admit_bytes(std::size_t bytes);
  /// Asks the server how many bytes it takes at once. One that does not know bounds nothing.
  task<result<void>> learn_bytes_max();
  [[nodiscard]] result<void> make_handle(const login& as);
  [[nodiscard]] result<void> refuse(std::string why);
  task<void> look_at_lists(const tls_options& of);
  task<result<void>> log_in(const net::endpoint& where, const connection_options& options,
                            std::string_view name);
  void forget_others_failures() const noexcept;
  /// That there was one whose words are not for everybody, once.
  void log_failure();
  task<result<statement>> prepare_once(std::string_view text);
  /// In the room that another has asked for.
  void make_room() noexcept;
  task<result<void>> start(statement& to_run, std::span<const value> parameters);
  /// Prepares one anew that the server has lost, or cannot run any more as it was prepared.
  task<result<void>> start_again(statement& lost, std::span<const value> parameters);
  /// Fetches a row that has come already. Nothing: it has to be waited for as the library says by
  /// `status`, by await_row().
  [[nodiscard]] std::optional<result<bool>> take_row(statement& of, const environment& env,
                                                     int& status);
  task<result<bool>> await_row(statement& of, int status);
  [[nodiscard]] result<bool> settle_row(statement& of, result<void> seen_through, int told);
  /// Lets the packet in that is on its way, once there is memory for it.
  task<result<void>> admit_packet();
  task<result<memory_reservation>> reserve_for_packet(std::size_t size_bytes);
  task<result<void>> send(std::string_view text);
  struct rows_end {
    void operator()(st_mysql_res* ended) const noexcept;
  };
  using stored_rows = std::unique_ptr<st_mysql_res, rows_end>;
  /// Of a statement's text that has been sent.
  task<result<stored_rows>> read_rows();
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
  std::unique_ptr<packet_gate> gate_;  // of an open one
  memory_reservation packet_memory_;   // for what the library keeps
  memory_reservation row_memory_;      // for what is made of it
  statement_cache statements_{0};
  statement_room* room_ = nullptr;
  std::uint64_t shortages_ = 0;  // that this has heard of
  std::string database_;         // in use
  std::uint64_t round_trips_ = 0;
  std::size_t bytes_max_ = 0;  // that the server takes at once; 0: it has not said
  bool is_at_work_ = false;
  bool is_secured_ = false;  // by TLS
  bool is_logged_in_ = false;
  bool has_met_read_only_ = false;
  row_wait row_wait_ = row_wait::in_line;
  std::size_t row_columns_ = 0;
  bool was_row_beyond_memory_ = false;
  unsigned server_error_ = 0;
  failure_kind failure_kind_ = failure_kind::other;
  std::string failure_text_;
  std::string_view public_text_;  // static; empty: it is the same
  std::string logged_;
};

class [[nodiscard]] connection::next_row {
  /// Made where a row has not come yet: a task, and what awaits it, once.
  struct waiting_for_row {
    explicit waiting_for_row(task<result<bool>> row) noexcept : work{std::move(row)} {}
    task<result<bool>> work;
    decltype(std::move(work).operator co_await()) awaiter = std::move(work).operator co_await();
  };

 public:
  next_row(connection& by, statement& of, row_wait wait) noexcept : by_{by}, of_{of}, wait_{wait} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiting) {
    int status = 0;
    by_.row_wait_ = wait_;
    by_.row_columns_ = of_.row_columns();
    taken_ = by_.take_row(of_, *waiting.promise().env, status);
    if (taken_) [[likely]]
      return waiting;
    awaited_.emplace(by_.await_row(of_, status));
    return awaited_->awaiter.await_suspend(waiting);
  }
  [[nodiscard]] result<bool> await_resume() {
    return taken_ ? *taken_ : awaited_->awaiter.await_resume();
  }

 private:
  connection& by_;
  statement& of_;
  row_wait wait_;
  std::optional<result<bool>> taken_;
  std::optional<waiting_for_row> awaited_;
};

inline connection::next_row connection::fetch(statement& to_run, row_wait by) noexcept {
  return {*this, to_run, by};
}

}  // namespace weft::store::mysql
