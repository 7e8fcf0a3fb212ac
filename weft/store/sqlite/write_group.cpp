#include <weft/store/sqlite/write_group.hpp>

#include <algorithm>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/store/sqlite/row_values.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

/// A result code of SQLite's.
int bind_all(sqlite3_stmt* to, const key_write& operation) noexcept {
  const table& table = *operation.to;
  WEFT_ASSERT(!table.key().empty() && table.key().size() == operation.key.size(),
              "a key has a value for each column of the table's primary key");
  WEFT_ASSERT(operation.columns.size() == operation.values.size(),
              "each column that is set has a value");
  int at = 1;
  for (std::size_t i = 0; i < operation.key.size(); ++i, ++at) {
    const column& of = table.columns()[table.key()[i]];
    if (const int code = bind_value(to, at, operation.key[i], of); code != SQLITE_OK) return code;
  }
  for (std::size_t i = 0; i < operation.values.size(); ++i, ++at) {
    const column& of = table.columns()[operation.columns[i]];
    if (const int code = bind_value(to, at, operation.values[i], of); code != SQLITE_OK)
      return code;
  }
  return SQLITE_OK;
}

/// Whether a row is changed where all goes well; one that is there has nothing set of it.
bool must_change(const key_write& operation) noexcept {
  return operation.kind != write_kind::upsert || !operation.columns.empty();
}

/// Whether it sets all that a row must have.
bool has_whole_row(const key_write& operation) noexcept {
  return std::ranges::all_of(operation.to->values(), [&](column_position at) {
    const column& of = operation.to->columns()[at];
    return of.is_nullable || of.has_default || of.is_generated ||
           std::ranges::contains(operation.columns, at);
  });
}

/// Whether an error is of one operation, and the transaction goes on.
bool is_of_one(failure_kind kind) noexcept {
  return kind == failure_kind::duplicate_key || kind == failure_kind::constraint ||
         kind == failure_kind::unsupported || kind == failure_kind::other;
}

}  // namespace

sqlite3_stmt* text_statements::find(connection& by, const std::string& sql) {
  if (const auto found = by_text_.find(sql); found != by_text_.end()) return found->second.get();
  if (by_text_.size() >= most) by_text_.clear();
  statement made = by.prepare(sql);
  if (made == nullptr) return nullptr;
  return by_text_.try_emplace(sql, std::move(made)).first->second.get();
}

write_group::outcome write_group::run(std::span<queued_write* const> batches) {
  if (!run_all(batches)) return outcome::undone;
  if (by_.look() == file_place::in_place) return commit(batches);
  static_cast<void>(give_up(SQLITE_OK));
  for (queued_write* const each : batches) each->is_stale_ = true;
  has_moved_ = true;
  return outcome::undone;
}

bool write_group::run_all(std::span<queued_write* const> batches) {
  if (!step("BEGIN IMMEDIATE")) return false;
  const auto version = by_.number("PRAGMA schema_version");
  if (!version) return give_up(version.error());
  version_ = *version;
  for (queued_write* const each : batches)
    if (!run_batch(*each)) return false;
  return true;
}

/// Once it has begun nothing is allocated here before it is known how it ended.
write_group::outcome write_group::commit(std::span<queued_write* const> batches) {
  sqlite3_stmt* const run = statements_.find(by_, "COMMIT");
  if (run == nullptr) {
    static_cast<void>(give_up(sqlite3_extended_errcode(by_.get())));
    return outcome::undone;
  }
  for (queued_write* const each : batches) each->begin_commit();
  const int code = sqlite3_step(run);
  const failure_kind kind = kind_of(code);
  const bool is_done = code == SQLITE_DONE;
  // SQLite has then ended the transaction: what has come to the disk may be all of it.
  const bool is_unknown = !is_done && !is_stuck() &&
                          (kind == failure_kind::no_memory || kind == failure_kind::input_output);
  const running_statement ended{run};
  if (is_done) return outcome::done;
  if (!is_unknown)
    for (queued_write* const each : batches) each->undo_commit();
  static_cast<void>(give_up(code));
  return is_unknown ? outcome::unknown : outcome::undone;
}

/// False: the group has ended, and nothing was done.
bool write_group::step(const char* sql) {
  sqlite3_stmt* const run = statements_.find(by_, sql);
  if (run == nullptr) return give_up(sqlite3_extended_errcode(by_.get()));
  const running_statement running{run};
  const int code = sqlite3_step(run);
  return code == SQLITE_DONE || give_up(code);
}

bool write_group::give_up(int code) {
  code_ = code;
  fault_ = by_.describe(code);
  by_.roll_back();
  return false;
}

bool write_group::run_batch(queued_write& batch) {
  batch.stage_ = queued_write::stage::undone;
  batch.is_stale_ = batch.version_ != version_;
  if (batch.is_stale_) return true;
  return step("SAVEPOINT batch") && run_operations(batch) && step("RELEASE batch");
}

/// False: the transaction has ended. Otherwise the savepoint is as the batch has left it.
bool write_group::run_operations(queued_write& batch) {
  for (std::size_t i = 0; i < batch.operations_.size(); ++i) {
    const key_write& operation = batch.operations_[i];
    const auto [code, kind] = run_operation(operation);
    if (code == SQLITE_DONE) {
      const bool is_missing = must_change(operation) && sqlite3_changes(by_.get()) == 0;
      batch.outcomes_[i] = {.is = is_missing ? write_outcome::kind::missing
                                             : write_outcome::kind::done};
      continue;
    }
    if (!is_of_one(kind)) return give_up(code);
    if (!by_.in_transaction()) {  // ON CONFLICT ROLLBACK
      culprit_ = i;
      return give_up(code);
    }
    batch.fail_all(kind, by_.describe(code), i);
    batch.settle();
    return step("ROLLBACK TO batch");
  }
  return true;
}

/// An INSERT fails of a column that it leaves out and must not before it is seen that there is such
/// a row already: then a row is updated first, and inserted where there is none.
write_group::ran write_group::run_operation(const key_write& operation) {
  if (operation.kind != write_kind::upsert || has_whole_row(operation)) return run_once(operation);
  key_write part = operation;
  part.kind = write_kind::update;
  const ran updated = run_once(part);
  if (updated.code != SQLITE_DONE || sqlite3_changes(by_.get()) != 0) return updated;
  part.kind = write_kind::insert;
  return run_once(part);
}

write_group::ran write_group::run_once(const key_write& operation) {
  sqlite3_stmt* const run = statements_.find(by_, write_row(operation));
  if (run == nullptr) {
    const int refused = sqlite3_extended_errcode(by_.get());
    return {refused, kind_of_refused(refused)};
  }
  const running_statement running{run};
  const int bound = bind_all(run, operation);
  const int code = bound == SQLITE_OK ? sqlite3_step(run) : bound;
  return {code, kind_of(code)};
}

}  // namespace weft::store::sqlite
