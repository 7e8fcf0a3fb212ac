#include <weft/store/mysql/write_run.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/store/mysql/key_charsets.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/mysql/sql_text.hpp>

namespace weft::store::mysql {
namespace {

/// Whether it is of one operation, and not of the server's state.
bool is_of_one_row(failure_kind why) noexcept {
  switch (why) {
    case failure_kind::schema_changed:
    case failure_kind::duplicate_key:
    case failure_kind::constraint:
    case failure_kind::invalid:
    case failure_kind::too_large:
    case failure_kind::other: return true;
    default: return false;
  }
}

/// Few, so that few statements are prepared; the largest first.
constexpr std::array<std::size_t, 3> rows_together = {256, 64, 16};
/// What a statement of many rows may have: a connection keeps a hundred bytes for each parameter,
/// and the server has to take all in one packet (max_allowed_packet, 16 MiB unless told otherwise).
constexpr std::size_t parameters_together_max = 2'048;
constexpr std::size_t bytes_together_max = 256 * 1024;

std::size_t parameters_of(const key_write& row) noexcept {
  return row.key.size() + row.columns.size();
}

std::size_t bytes_of(std::span<const value> values) noexcept {
  std::size_t bytes = 0;
  for (const value& each : values) {
    const bool is_long = each.kind() == value_kind::text || each.kind() == value_kind::bytes;
    bytes += is_long ? each.as_text().size() : sizeof(std::int64_t);
  }
  return bytes;
}

/// An upsert of rows that are not there is an INSERT.
bool may_insert(const key_write& each) noexcept {
  return each.kind == write_kind::insert || each.kind == write_kind::upsert;
}

bool is_alike(const key_write& one, const key_write& other) noexcept {
  return may_insert(other) && one.to == other.to && std::ranges::equal(one.columns, other.columns);
}

/// Nothing that began before COMMIT is there any more.
error undone(error why) noexcept {
  return why == errc::timed_out || why == errc::cancelled ? why : errc::unavailable;
}

constexpr std::string_view memory_ran_out =
    "memory ran out while it was committed, so that nobody knows whether the batch was done: look "
    "before you write it again";

/// Closes a connection whose transaction nobody has ended.
class [[nodiscard]] open_transaction {
 public:
  explicit open_transaction(connection& of) noexcept : of_{of} {}
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  ~open_transaction() {
    if (!has_ended_) of_.close();
  }
  void end() noexcept { has_ended_ = true; }

 private:
  connection& of_;
  bool has_ended_ = false;
};

}  // namespace

task<result<void>> write_run::run(connection& by) {
  if (operations_.size() == 1) co_return co_await run_alone(by);
  if (refuse_half_done()) co_return {};
  co_return co_await run_all(by);
}

bool write_run::refuse_half_done() {
  const auto found = std::ranges::find_if(
      operations_, [](const key_write& each) { return !each.to->definition().has_transactions; });
  if (found == operations_.end()) return false;
  const table_definition& of = found->to->definition();
  std::string name;
  append_table(*found->to, name);
  failed_ = static_cast<std::size_t>(found - operations_.begin());
  why_ = failure_kind::invalid;
  message_ = weft::format(
      "the table {}.{} is kept by {}, which has no transactions, so that a batch might be done in "
      "part: write its rows one at a time, or ALTER TABLE {} ENGINE=InnoDB",
      of.database, of.name, of.storage_engine, name);
  return true;
}

task<result<void>> write_run::run_alone(connection& by) {
  const key_write& only = operations_.front();
  const write_kind first = only.kind == write_kind::upsert ? write_kind::update : only.kind;
  // To prepare it changes nothing.
  if (const auto ready = co_await by.prepared(write_row(only, first)); !ready) {
    if (by.server_error() == 0 || !by.is_open()) co_return fail(undone(ready.error()));
    fail_batch(by, 0);
    co_return {};
  }
  const environment& env = co_await this_task::environment();
  if (env.stop.stop_requested()) co_return fail(errc::cancelled);
  const time_point now = env.runs_on->now();
  if (env.until.passed(now)) co_return fail(errc::timed_out);
  result<void> ran;
  try {
    ran = co_await shielded(run_one(by, 0), deadline::at(now + patience_));
  } catch (const std::bad_alloc&) {
    lose_track(by);
    co_return {};
  }
  if (ran) co_return {};
  if (was_not_begun(by.server_error())) co_return fail(errc::unavailable);
  if (by.server_error() == 0 || may_be_done(by.server_error()))
    fail_unknown(by);
  else
    fail_batch(by, 0);
  co_return {};
}

task<result<void>> write_run::run_all(connection& by) {
  open_transaction transaction{by};
  if (const auto begun = co_await by.run("START TRANSACTION"); !begun)
    co_return fail(undone(begun.error()));
  for (std::size_t i = 0, together = 0; i < operations_.size(); i += together) {
    together = together_from(i);
    const auto ran = together == 1 ? co_await run_one(by, i)
                                   : co_await insert_together(by, operations_.subspan(i, together));
    if (ran) continue;
    const bool is_too_large =  // which ends the connection, too
        together == 1 && by.server_error() != 0 &&
        by.last_failure().kind == failure_kind::too_large;
    if (!is_too_large && (by.server_error() == 0 || !by.is_open()))
      co_return fail(undone(ran.error()));
    const bool is_to_be_found = together != 1 && is_of_one_row(by.last_failure().kind);
    if (!is_to_be_found) fail_batch(by, i);
    if (const auto undid = co_await by.run("ROLLBACK"); undid)
      transaction.end();
    else if (is_to_be_found)
      co_return fail(undone(undid.error()));
    if (is_to_be_found) co_return co_await run_all(by);
    co_return {};
  }
  const environment& env = co_await this_task::environment();
  if (env.stop.stop_requested()) co_return fail(errc::cancelled);
  const time_point now = env.runs_on->now();
  if (env.until.passed(now)) co_return fail(errc::timed_out);
  result<std::uint64_t> committed = 0;
  try {
    committed = co_await shielded(by.run("COMMIT"), deadline::at(now + patience_));
  } catch (const std::bad_alloc&) {
    lose_track(by);
    co_return {};
  }
  if (committed) {
    transaction.end();
    co_return {};
  }
  if (undoes_commit(by.server_error()))
    fail_batch(by, everybody);  // as a cluster does, where another has changed the same rows
  else
    fail_unknown(by);
  co_return {};
}

std::size_t write_run::together_from(std::size_t operation) const noexcept {
  const std::span rows = operations_.subspan(operation);
  const key_write& first = rows.front();
  if (is_row_by_row_ || rows.size() < rows_together.back() || !may_insert(first)) return 1;
  const std::size_t most =
      std::min(rows_together.front(), parameters_together_max / parameters_of(first));
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (; count < std::min(most, rows.size()) && is_alike(first, rows[count]); ++count) {
    bytes += bytes_of(rows[count].key) + bytes_of(rows[count].values);
    if (bytes > bytes_together_max) break;
  }
  const auto* const found = std::ranges::find_if(
      rows_together, [count](std::size_t rows_at_once) { return rows_at_once <= count; });
  return found == rows_together.end() ? 1 : *found;
}

task<result<void>> write_run::insert_together(connection& by, std::span<const key_write> rows) {
  is_row_by_row_ = true;  // unless it succeeds
  parameters_.clear();
  for (const key_write& each : rows) {
    parameters_.insert(parameters_.end(), each.key.begin(), each.key.end());
    parameters_.insert(parameters_.end(), each.values.begin(), each.values.end());
  }
  const auto prepared = co_await by.prepared(insert_rows(rows.front(), rows.size()));
  if (!prepared) co_return fail(prepared.error());
  const auto ran = co_await by.execute(**prepared, parameters_);
  is_row_by_row_ = !ran;
  co_return ran;
}

task<result<void>> write_run::run_one(connection& by, std::size_t operation) {
  const key_write& asked = operations_[operation];
  WEFT_ASSERT(!asked.to->key().empty() && asked.to->key().size() == asked.key.size(),
              "a key has a value for each column of the table's primary key");
  WEFT_ASSERT(asked.columns.size() == asked.values.size(), "each column that is set has a value");
  if (asked.kind == write_kind::upsert) {
    const auto ran = co_await upsert(by, asked);
    if (!ran) co_return ran;
    outcomes_[operation] = outcome::done;
    co_return {};
  }
  const auto found = co_await execute(by, asked, asked.kind);
  if (!found) co_return fail(found.error());
  outcomes_[operation] = *found == 0 ? outcome::missing : outcome::done;
  co_return {};
}

/// Not by ON DUPLICATE KEY UPDATE, which changes another row where that has the same value in a
/// column that is unique. An INSERT comes after, since it fails of a column that it leaves out
/// before it is seen that there is such a row already. One of these statements at most changes
/// anything, so that an upsert alone needs no transaction.
task<result<void>> write_run::upsert(connection& by, const key_write& operation) {
  auto found = co_await execute(by, operation, write_kind::update);
  if (!found) co_return fail(found.error());
  if (*found != 0) co_return {};
  auto inserted = co_await execute(by, operation, write_kind::insert);
  if (inserted) co_return {};
  const bool is_there_by_now =
      by.is_open() && by.last_failure().kind == failure_kind::duplicate_key;
  if (!is_there_by_now) co_return fail(inserted.error());
  // Either another has put it there meanwhile, or another row has a value that is unique.
  found = co_await execute(by, operation, write_kind::update);
  if (!found) co_return fail(found.error());
  if (*found != 0) co_return {};
  inserted = co_await execute(by, operation, write_kind::insert);
  if (!inserted) co_return fail(inserted.error());
  co_return {};
}

task<result<std::uint64_t>> write_run::execute(connection& by, const key_write& operation,
                                               write_kind as) {
  const auto key = operation.key;
  const auto values = operation.values;
  parameters_.clear();
  if (as == write_kind::update) {
    parameters_.insert(parameters_.end(), values.begin(), values.end());
    parameters_.insert(parameters_.end(), key.begin(), key.end());
  } else {
    parameters_.insert(parameters_.end(), key.begin(), key.end());
    if (as != write_kind::remove)
      parameters_.insert(parameters_.end(), values.begin(), values.end());
  }
  const std::string sql = write_row(operation, as);
  const auto ran = co_await execute_text(by, sql);
  if (ran || as == write_kind::insert || !is_of_charsets(by.server_error())) co_return ran;
  const auto held = co_await held_by_charsets(by, *operation.to, std::array{operation.key});
  if (!held) co_return fail(held.error());
  if (!held->front()) co_return 0;
  co_return co_await execute_text(by, sql);  // for what the server says of it
}

task<result<std::uint64_t>> write_run::execute_text(connection& by, std::string_view sql) {
  const auto prepared = co_await by.prepared(sql);
  if (!prepared) co_return fail(prepared.error());
  const auto ran = co_await by.execute(**prepared, parameters_);
  if (!ran) co_return fail(ran.error());
  co_return (*prepared)->rows();
}

void write_run::fail_batch(const connection& by, std::size_t operation) {
  const failure told = by.last_failure();
  failed_ = is_of_one_row(told.kind) ? operation : everybody;
  why_ = told.kind;
  message_ = told.message;
  is_stale_ = told.kind == failure_kind::schema_changed;
}

void write_run::lose_track(connection& by) noexcept {
  failed_ = everybody;
  why_ = failure_kind::unknown;
  message_.clear();
  by.close();
}

void write_run::fail_unknown(const connection& by) {
  failed_ = everybody;
  why_ = failure_kind::unknown;
  message_ = weft::format(
      "{} while it committed, so that nobody knows whether the batch was done: look before you "
      "write it again ({})",
      by.server_error() == 0 ? "the connection to the server was lost" : "the server failed",
      by.last_failure().message);
}

void write_run::tell(write_sink& to, engine_counts& counts) const {
  if (failed_ == nobody) {
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (outcomes_[i] == outcome::missing) {
        to.missing(i);
        continue;
      }
      counts.writes.add();
      to.done(i);
    }
    return;
  }
  const bool is_of_all = failed_ == everybody;
  const std::string_view why = message_.empty() ? memory_ran_out : std::string_view{message_};
  const std::string others =
      is_of_all ? std::string{}
                : weft::format("not done, since operation {} of the batch failed", failed_);
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const bool is_other = !is_of_all && i != failed_;
    const failure_kind kind = is_other ? failure_kind::rolled_back : why_;
    counts.failed(kind);
    to.failed(i, {kind, is_other ? others : why, is_of_all});
  }
}

}  // namespace weft::store::mysql
