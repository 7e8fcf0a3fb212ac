#include <weft/store/sqlite/shard_database.hpp>

#include <algorithm>
#include <string_view>

#include <weft/store/sqlite/row_lookup.hpp>

namespace weft::store::sqlite {
namespace {

/// Of a statement without an answer.
int run_once(connection& by, statement& kept, std::string_view sql) noexcept {
  if (kept == nullptr) kept = by.prepare(sql);
  if (kept == nullptr) return sqlite3_extended_errcode(by.get());
  const running_statement run{kept.get()};
  const int code = sqlite3_step(kept.get());
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/// printf() returns NULL for a text longer than SQLITE_LIMIT_LENGTH, and any expression may run
/// for long.
bool computes_any(const key_read& operation) noexcept {
  return std::ranges::any_of(operation.columns, [&](column_position at) {
    return operation.from->columns()[at].is_computed_when_read;
  });
}

}  // namespace

int shard_database::begin() noexcept {
  const std::uint64_t commits = of_.commits();
  if (in_transaction_ && commits == commits_seen_) return SQLITE_OK;
  end_turn();
  if (!connection_) return SQLITE_NOMEM;
  commits_seen_ = commits;
  is_checked_ = false;
  // What ends the transaction is there before it begins.
  if (end_ == nullptr) end_ = connection_->prepare("COMMIT");
  if (end_ == nullptr) return sqlite3_extended_errcode(connection_->get());
  const int code = run_once(*connection_, begin_, "BEGIN");
  in_transaction_ = connection_->in_transaction();
  return code;
}

/// It has nothing to commit; an error has ended it before.
void shard_database::end_transaction() noexcept {
  if (!in_transaction_) return;
  if (connection_->in_transaction()) static_cast<void>(run_once(*connection_, end_, "COMMIT"));
  in_transaction_ = connection_->in_transaction();
}

void shard_database::end_turn() noexcept {
  end_transaction();
  if (in_transaction_) close();
}

bool shard_database::is_in_place() {
  if (!connection_) return false;
  const file_place place = connection_->look();
  is_checked_ = place == file_place::in_place;
  if (is_checked_) return true;
  end_transaction();  // a statement may still run: where that fails the turn's end closes it
  is_suspect_ = true;
  of_.note(*connection_, place);
  return false;
}

void shard_database::close() noexcept {
  end_transaction();
  begin_.reset();
  end_.reset();
  ask_version_.reset();
  statements_.clear();
  connection_.reset();
  in_transaction_ = false;
  is_suspect_ = true;
}

/// Whether the schema is still that of the catalog, or else SQLITE_SCHEMA. Asked before a statement
/// is made, which knows the schema of now; one that is made already notices by itself.
int shard_database::check_schema() noexcept {
  if (ask_version_ == nullptr) ask_version_ = connection_->prepare("PRAGMA schema_version");
  if (ask_version_ == nullptr) return sqlite3_extended_errcode(connection_->get());
  const running_statement run{ask_version_.get()};
  const int code = sqlite3_step(ask_version_.get());
  if (code != SQLITE_ROW) return code;
  return sqlite3_column_int64(ask_version_.get(), 0) == version_ ? SQLITE_OK : SQLITE_SCHEMA;
}

shard_database::outcome shard_database::read(std::size_t number, const key_read& operation,
                                             std::vector<value>& room, nowait_reads& here,
                                             read_sink& to) {
  if (!connection_) return outcome::cold;
  if (const int code = begin(); code != SQLITE_OK)
    return connection_ ? fail(code, kind_of(code), number, here, to) : outcome::cold;
  cached_statement* select = statements_.find(*connection_, *operation.from, operation.columns);
  if (select == nullptr) {
    if (computes_any(operation)) return outcome::cold;
    if (const int code = check_schema(); code != SQLITE_OK) {
      const outcome found = fail(code, kind_of(code), number, here, to);
      if (found == outcome::stale) end_turn();
      return found;
    }
    counts_.statements_prepared.add();
    select = statements_.make(*connection_, *operation.from, operation.columns);
    if (select == nullptr) {
      const int code = sqlite3_extended_errcode(connection_->get());
      return fail(code, kind_of_refused(code), number, here, to);
    }
  }
  const running_statement run{select->run.get()};
  const int code = step_to_row(select->run.get(), operation);
  if (select->was_reprepared()) return outcome::stale;
  if (!is_checked_ && !is_in_place()) return outcome::stale;
  if (code == SQLITE_ROW) {
    if (room.size() < operation.columns.size()) room.resize(operation.columns.size());
    take_values(select->run.get(), operation, room);
    counts_.rows_read.add();
    to.row(number, {room.data(), operation.columns.size()});
  } else if (code == SQLITE_DONE) {
    to.missing(number);
  } else {
    return fail(code, kind_of(code), number, here, to);
  }
  return outcome::told;
}

shard_database::outcome shard_database::fail(int code, failure_kind kind, std::size_t number,
                                             const nowait_reads& here, read_sink& to) {
  // SQLite has rolled back, if the error was one of input.
  in_transaction_ = connection_->in_transaction();
  // Another program writes, where there is no log, or mends the database, or has left a commit half
  // done: not to be waited for here. Nor is a long value to be copied here.
  if (here.would_block() || kind == failure_kind::busy || code == SQLITE_READONLY_ROLLBACK ||
      code == SQLITE_TOOBIG)
    return outcome::cold;
  if (!is_checked_ && !is_in_place()) return outcome::stale;
  if (kind == failure_kind::schema_changed) return outcome::stale;
  const std::string message = connection_->describe(code);
  // A statement of another schema fails so, too; it is all the same for one of this schema.
  if ((code & 0xff) == SQLITE_ERROR && check_schema() == SQLITE_SCHEMA) return outcome::stale;
  is_suspect_ = is_suspect_ || kind == failure_kind::corrupt || kind == failure_kind::input_output;
  counts_.failed(kind);
  to.failed(number, {.kind = kind, .message = message});
  return outcome::told;
}

}  // namespace weft::store::sqlite
