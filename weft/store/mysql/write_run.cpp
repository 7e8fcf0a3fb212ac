#include <weft/store/mysql/write_run.hpp>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/coro/with_deadline.hpp>
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
    case failure_kind::other: return true;
    default: return false;
  }
}

/// Nothing that began before COMMIT is there any more.
error undone(error why) noexcept {
  return why == errc::timed_out || why == errc::cancelled ? why : errc::unavailable;
}

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
  const bool is_alone = operations_.size() == 1 && operations_.front().kind != write_kind::upsert;
  if (is_alone) co_return co_await run_alone(by);
  co_return co_await run_all(by);
}

task<result<void>> write_run::run_alone(connection& by) {
  const key_write& only = operations_.front();
  // To prepare it changes nothing.
  if (const auto ready = co_await by.prepared(write_row(only, only.kind)); !ready) {
    if (by.server_error() == 0 || !by.is_open()) co_return fail(undone(ready.error()));
    fail_batch(by, 0);
    co_return {};
  }
  const environment& env = co_await this_task::environment();
  if (env.stop.stop_requested()) co_return fail(errc::cancelled);
  const time_point now = env.runs_on->now();
  if (env.until.passed(now)) co_return fail(errc::timed_out);
  const auto ran = co_await shielded(run_one(by, 0), deadline::at(now + patience_));
  if (ran) co_return {};
  if (by.server_error() == 0)
    fail_unknown(by);
  else
    fail_batch(by, 0);
  co_return {};
}

task<result<void>> write_run::run_all(connection& by) {
  open_transaction transaction{by};
  if (const auto begun = co_await by.run("START TRANSACTION"); !begun)
    co_return fail(undone(begun.error()));
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto ran = co_await run_one(by, i);
    if (ran) continue;
    if (by.server_error() == 0 || !by.is_open()) co_return fail(undone(ran.error()));
    fail_batch(by, i);
    if (co_await by.run("ROLLBACK")) transaction.end();
    co_return {};
  }
  const environment& env = co_await this_task::environment();
  if (env.stop.stop_requested()) co_return fail(errc::cancelled);
  const time_point now = env.runs_on->now();
  if (env.until.passed(now)) co_return fail(errc::timed_out);
  const auto committed = co_await shielded(by.run("COMMIT"), deadline::at(now + patience_));
  if (committed) {
    transaction.end();
    co_return {};
  }
  if (by.server_error() == 0)
    fail_unknown(by);
  else
    fail_batch(by, everybody);  // as a cluster does, where another has changed the same rows
  co_return {};
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
/// before it is seen that there is such a row already.
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
  const auto prepared = co_await by.prepared(write_row(operation, as));
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

void write_run::fail_unknown(const connection& by) {
  failed_ = everybody;
  why_ = failure_kind::input_output;
  message_ = weft::format(
      "the connection to the server was lost while it committed, so that nobody knows whether the "
      "batch was done: look before you write it again ({})",
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
  const std::string others =
      is_of_all ? message_
                : weft::format("not done, since operation {} of the batch failed", failed_);
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const bool is_other = !is_of_all && i != failed_;
    const failure_kind why = is_other ? failure_kind::rolled_back : why_;
    counts.failed(why);
    to.failed(i, {.kind = why, .message = is_other ? others : message_, .is_of_all = is_of_all});
  }
}

}  // namespace weft::store::mysql
