#include <weft/store/mysql/connection.hpp>

#include <sys/socket.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <mariadb/mysql.h>
#include <mariadb/mysqld_error.h>
#include <openssl/err.h>

#include <weft/base/assert.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/mysql/library.hpp>
#include <weft/store/mysql/login.hpp>
#include <weft/store/mysql/packet_gate.hpp>
#include <weft/store/mysql/result_columns.hpp>
#include <weft/store/mysql/server_address.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/mysql/server_proof.hpp>
#include <weft/store/mysql/sql_text.hpp>
#include <weft/store/mysql/thread_login.hpp>

namespace weft::store::mysql {
namespace {

/// Of a packet that nobody wants: rather than to read more, the connection is made anew.
constexpr std::size_t unwanted_bytes_max = std::size_t{1} << 20U;
constexpr duration memory_wait = std::chrono::seconds{1};

struct statement_end {
  void operator()(MYSQL_STMT* ended) const noexcept { mysql_stmt_close(ended); }
};

/// Of one statement in a call: whose table is changed all the time is told so.
constexpr int reprepares_max = 3;

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
    if (asks) on_.row_wait_ = row_wait::in_line;
    on_.was_row_beyond_memory_ = false;
    on_.forget_others_failures();
  }
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  ~call() { on_.is_at_work_ = false; }

 private:
  connection& on_;
};

connection::connection(event_loop& loop) noexcept : loop_{loop} {}

connection::~connection() {
  WEFT_ASSERT(!is_at_work_, "a connection outlives its calls: await the last one");
  close();
}

void connection::close() noexcept {
  if (handle_ != nullptr) mysql_close(std::exchange(handle_, nullptr));
  gate_.reset();
  packet_memory_.reset();
  row_memory_.reset();
}

std::uint64_t connection::id() const noexcept { return mysql_thread_id(handle_); }

void connection::give_back_row() noexcept {
  row_memory_.reset();
  if (gate_ == nullptr || !gate_->is_wide()) return;
  gate_->narrow();
  if (!gate_->is_wide()) packet_memory_.reset();
}

/// Goes on with a call of the library as often as it would wait. One that may wait no longer is not
/// left where it stands: with its socket shut down it comes to an end by itself.
template <class GoOn>
task<result<void>> connection::see_through(int status, GoOn go_on) {
  result<void> outcome;
  while (status != 0) {
    const int fd = mysql_get_socket(handle_);
    if (outcome && gate_ != nullptr && gate_->is_shut())
      outcome = co_await admit_packet();
    else if (outcome)
      outcome = co_await poll_wait{
          loop_,
          (status & MYSQL_WAIT_READ) != 0 ? operation_kind::readable : operation_kind::writable,
          fd};
    forget_others_failures();
    if (outcome) {
      status = go_on(status & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE));
    } else {
      if (gate_ != nullptr) gate_->give_up();
      ::shutdown(fd, SHUT_RDWR);  // one that has ended already is what is wanted
      status = go_on(status | MYSQL_WAIT_TIMEOUT);
    }
  }
  // One that has come without a wait, where the gate does not hold it back.
  if (outcome && gate_ != nullptr && gate_->is_shut()) outcome = co_await admit_packet();
  co_return outcome;
}

task<result<void>> connection::admit_packet() {
  const std::size_t packet_bytes = gate_->wanted();
  const std::size_t made_bytes = packet_bytes + told_bytes(packet_bytes, row_columns_);
  const std::size_t held_bytes = packet_memory_.bytes() + row_memory_.bytes();
  const bool may_wait = row_wait_ != row_wait::none;
  if (!may_wait && packet_bytes > unwanted_bytes_max) co_return fail(errc::exhausted);
  was_row_beyond_memory_ =
      !loop_.memory().may_ever_have(packet_bytes + made_bytes, memory_priority::normal);
  if (was_row_beyond_memory_) co_return fail(errc::limit_exceeded);
  auto more = co_await reserve_for_packet(packet_bytes + made_bytes - held_bytes);
  if (!more) co_return fail(more.error());
  more->join(std::move(packet_memory_));
  more->join(std::move(row_memory_));
  row_memory_ = more->split(made_bytes, memory_kind::queries);
  packet_memory_ = std::move(*more);
  gate_->let_in();
  co_return {};
}

task<result<memory_reservation>> connection::reserve_for_packet(std::size_t size_bytes) {
  memory_share& all = loop_.memory();
  if (row_wait_ == row_wait::none) {
    auto given = all.try_reserve(memory_kind::queries, size_bytes, memory_priority::normal);
    if (!given) co_return fail(errc::exhausted);
    co_return given;
  }
  const memory_priority as =
      row_wait_ == row_wait::ahead ? memory_priority::high : memory_priority::normal;
  auto given =
      co_await with_timeout(memory_wait, reserve_memory(all, memory_kind::queries, size_bytes, as));
  // The server is not to blame, whoever's time is over.
  if (!given && given.error() == errc::timed_out) co_return fail(errc::exhausted);
  co_return given;
}

result<void> connection::admit(const environment& env) noexcept {
  if (env.stop.stop_requested()) return fail(errc::cancelled);
  if (env.until.passed(loop_.now())) return fail(errc::timed_out);
  if (handle_ == nullptr) return fail(errc::closed);
  return {};
}

/// OpenSSL keeps those of a thread in one place, and the library takes any there for its own.
void connection::forget_others_failures() const noexcept {
  if (is_secured_) ERR_clear_error();
}

result<void> connection::make_handle(const login& as) {
  if (auto ready = prepare_library(); !ready) return ready;
  handle_ = mysql_init(nullptr);
  if (handle_ == nullptr) return fail(errc::exhausted);
  auto prepared = as.prepare(handle_);
  if (!prepared) close();
  return prepared;
}

borrowing_task<result<void>> connection::open(const net::endpoint& where,
                                              const connection_options& options,
                                              std::string_view name) {
  if (const auto in = co_await log_in(where, options, name); !in) co_return in;
  const bool is_mariadb = mariadb_connection(handle_) != 0;
  const auto ready = co_await run(session_setup(is_mariadb, options.statement_time));
  const auto serves = ready ? co_await ping() : fail(ready.error());
  const auto known = serves ? co_await learn_bytes_max() : serves;
  if (!known) close();
  co_return known;
}

task<result<void>> connection::learn_bytes_max() {
  const call under_way{*this};
  if (const auto sent = co_await send("SELECT @@max_allowed_packet"); !sent) {
    const bool is_unknown = is_open() && server_error_ != 0;
    co_return is_unknown ? result<void>{} : sent;
  }
  const auto rows = co_await read_rows();
  if (!rows) co_return fail(rows.error());
  const char* const* const row = mysql_fetch_row(rows->get());
  if (row == nullptr || row[0] == nullptr) co_return {};
  const std::string_view told{row[0]};
  std::from_chars(told.begin(), told.end(), bytes_max_);
  co_return {};
}

task<result<void>> connection::log_in(const net::endpoint& where, const connection_options& options,
                                      std::string_view name) {
  const call under_way{*this};
  close();
  statements_.clear();
  statements_.set_most(options.statements_max);
  database_ = options.database;
  room_ = options.room;
  shortages_ = room_ == nullptr ? 0 : room_->shortages;
  is_secured_ = options.tls.mode != tls_mode::off;
  is_logged_in_ = false;
  bytes_max_ = 0;
  const login as{where, options};
  if (auto made = make_handle(as); !made) co_return made;
  if (auto admitted = admit(co_await this_task::environment()); !admitted) {
    close();
    co_return admitted;
  }
  MYSQL* connected = nullptr;
  result<void> seen;
  if (is_secured_) {
    server_proof proof{options.tls.mode,
                       name.empty() ? certified_host_of(where.to_string()) : name};
    if (std::string fault = proof.ask_for(handle_); !fault.empty())
      co_return refuse(std::move(fault));
    seen = co_await log_in_by_thread(handle_, as, &connected);
    if (seen && connected != nullptr && !proof.is_given())
      co_return refuse("the server let us log in, and had not proved itself");
  } else {
    const int status = as.start(&connected, handle_);
    seen = co_await see_through(
        status, [&](int ready) { return mysql_real_connect_cont(&connected, handle_, ready); });
  }
  auto outcome = settle(seen, connected == nullptr);
  is_logged_in_ = outcome.has_value();
  if (outcome) gate_ = std::make_unique<packet_gate>(handle_, tls_session_of(*handle_));
  if (seen && !outcome && is_secured_) co_await look_at_lists(options.tls);
  if (!outcome)
    close();
  else if (!as.is_unix() && options.silence_max > duration::zero())
    watch_network(mysql_get_socket(handle_), options.silence_max);
  co_return outcome;
}

/// Says so where a list that cannot be read is why nobody is trusted.
task<void> connection::look_at_lists(const tls_options& of) {
  std::string fault;
  const auto looked = co_await blocking([&] { fault = fault_of_lists(of); });
  if (looked && !fault.empty()) failure_text_ = std::move(fault);
}

/// What is not to be logged in to, whatever the server says.
result<void> connection::refuse(std::string why) {
  failure_kind_ = failure_kind::input_output;
  failure_text_ = std::move(why);
  public_text_ = {};
  close();
  return fail(errc::unsupported);
}

borrowing_task<result<std::uint64_t>> connection::run(std::string_view text) {
  const call under_way{*this};
  if (const auto sent = co_await send(text); !sent) co_return fail(sent.error());
  co_return co_await drop_results();
}

task<result<void>> connection::send(std::string_view text) {
  if (auto admitted = admit(co_await this_task::environment()); !admitted) co_return admitted;
  int failed = 0;
  const int status = mysql_real_query_start(&failed, handle_, text.data(), text.size());
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_real_query_cont(&failed, handle_, ready); });
  co_return settle(seen, failed != 0);
}

void connection::rows_end::operator()(MYSQL_RES* ended) const noexcept { mysql_free_result(ended); }

task<result<connection::stored_rows>> connection::read_rows() {
  MYSQL_RES* rows = nullptr;
  const int status = mysql_store_result_start(&rows, handle_);
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_store_result_cont(&rows, handle_, ready); });
  stored_rows stored{rows};
  if (auto read = settle(seen, rows == nullptr); !read) co_return fail(read.error());
  co_return stored;
}

task<result<std::uint64_t>> connection::drop_results() {
  std::uint64_t changed = 0;
  while (true) {
    if (mysql_field_count(handle_) == 0) {
      changed = mysql_affected_rows(handle_);
    } else {
      if (const auto rows = co_await read_rows(); !rows) co_return fail(rows.error());
    }
    if (mysql_more_results(handle_) == 0) co_return changed;
    int failed = 0;
    const int status = mysql_next_result_start(&failed, handle_);
    const auto seen = co_await see_through(
        status, [&](int ready) { return mysql_next_result_cont(&failed, handle_, ready); });
    if (auto next = settle(seen, failed > 0); !next) co_return fail(next.error());
  }
}

borrowing_task<result<statement>> connection::prepare(std::string_view text) {
  const call under_way{*this};
  while (true) {
    auto made = co_await prepare_once(text);
    if (made || server_error_ != ER_MAX_PREPARED_STMT_COUNT_REACHED) co_return made;
    if (statements_.shrink()) continue;
    if (room_ != nullptr) shortages_ = ++room_->shortages;
    co_return made;
  }
}

void connection::make_room() noexcept {
  if (room_ == nullptr || std::exchange(shortages_, room_->shortages) == room_->shortages) return;
  statements_.shrink();
}

task<result<statement>> connection::prepare_once(std::string_view text) {
  server_error_ = 0;
  if (auto admitted = admit(co_await this_task::environment()); !admitted)
    co_return fail(admitted.error());
  if (auto admitted = admit_bytes(text.size()); !admitted) co_return fail(admitted.error());
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
  co_return statement{made.release(), text};
}

borrowing_task<result<statement*>> connection::prepared(std::string_view text) {
  make_room();
  if (statement* const known = statements_.find(text)) co_return known;
  auto made = co_await prepare(text);
  if (!made) co_return fail(made.error());
  co_return &statements_.keep(std::move(*made));
}

task<result<void>> connection::start_again(statement& lost, std::span<const value> parameters) {
  result<void> ran = fail(errc::invalid_argument);
  for (int more = reprepares_max; !ran && more > 0 && is_of_lost_statement(server_error_); --more) {
    auto anew = co_await prepare_once(lost.text());
    if (!anew) co_return fail(anew.error());
    lost.take_over(*anew);
    ran = co_await start(lost, parameters);
  }
  co_return ran;
}

task<result<void>> connection::start(statement& to_run, std::span<const value> parameters) {
  if (auto admitted = admit(co_await this_task::environment()); !admitted) co_return admitted;
  MYSQL_STMT* const asked = to_run.get();
  if (asked->mysql != handle_) co_return fail(errc::closed);
  if (parameters.size() != to_run.parameters()) co_return fail(errc::invalid_argument);
  const std::size_t bytes = to_run.bind(parameters);
  if (auto admitted = admit_bytes(bytes); !admitted) {
    to_run.forget_types();
    co_return admitted;
  }
  int failed = 0;
  const int status = mysql_stmt_execute_start(&failed, asked);
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_stmt_execute_cont(&failed, asked, ready); });
  auto ran = settle(seen, failed != 0, asked);
  ran ? read_unknown_types_as_bytes(asked) : to_run.forget_types();
  co_return ran;
}

borrowing_task<result<void>> connection::execute(statement& to_run,
                                                 std::span<const value> parameters) {
  const call under_way{*this};
  auto ran = co_await start(to_run, parameters);
  if (!ran && is_of_lost_statement(server_error_)) ran = co_await start_again(to_run, parameters);
  if (!ran) co_return ran;
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

borrowing_task<result<void>> connection::begin(statement& to_run,
                                               std::span<const value> parameters) {
  const call under_way{*this};
  auto ran = co_await start(to_run, parameters);
  if (!ran && is_of_lost_statement(server_error_)) ran = co_await start_again(to_run, parameters);
  if (!ran) co_return ran;
  to_run.take_rows_one_by_one();
  co_return result<void>{};
}

std::optional<result<bool>> connection::take_row(statement& of, const environment& env,
                                                 int& status) {
  const call under_way{*this, false};
  if (auto admitted = admit(env); !admitted) {
    close();  // with rows that nobody takes it is of no use
    return fail(admitted.error());
  }
  if (row_memory_ || packet_memory_) [[unlikely]]
    give_back_row();
  int told = 0;
  status = mysql_stmt_fetch_start(&told, of.get());
  // A long row may have come before there is memory for it, where the gate does not hold it back.
  const bool is_row = told == 0 || told == MYSQL_DATA_TRUNCATED;
  if (status != 0 || (is_row && gate_ != nullptr && gate_->is_shut())) return std::nullopt;
  return settle_row(of, {}, told);
}

task<result<bool>> connection::await_row(statement& of, int status) {
  const call under_way{*this, false};
  int told = 0;
  const auto seen = co_await see_through(
      status, [&](int ready) { return mysql_stmt_fetch_cont(&told, of.get(), ready); });
  co_return settle_row(of, seen, told);
}

result<bool> connection::settle_row(statement& of, result<void> seen_through, int told) {
  if (auto read = settle(seen_through, told == 1, of.get()); !read) return fail(read.error());
  const bool is_row = told != MYSQL_NO_DATA;
  is_row ? of.take_next_row() : of.end_rows();
  return is_row;
}

borrowing_task<result<void>> connection::use(std::string_view database) {
  if (database == database_) co_return result<void>{};
  std::string text = "USE ";
  append_name(database, text);
  const auto used = co_await run(text);
  if (!used) co_return fail(used.error());
  database_ = database;
  co_return result<void>{};
}

task<result<void>> connection::ping() {
  if (const auto done = co_await run("DO 1"); !done) co_return fail(done.error());
  co_return {};
}

}  // namespace weft::store::mysql
