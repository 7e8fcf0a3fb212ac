#include <weft/store/sqlite/cold_batch.hpp>

#include <algorithm>

#include <weft/store/sqlite/memory_budget.hpp>
#include <weft/store/sqlite/row_lookup.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

/// What SQLite may take for a row beside its values: pages in its cache, of which it has 512 KiB.
constexpr std::size_t page_bytes = std::size_t{1024} * 1024;

}  // namespace

void cold_batch::run() {
  auto by = from_.reader(database_);
  if (!by) {
    is_stale_ = !from_.has_file(database_);
    if (!is_stale_) fail_all(failure_kind::input_output, by.error());
    return;
  }
  connection& reader = **by;
  if (const int code = reader.run("BEGIN"); code != SQLITE_OK) {
    fail_all(kind_of(code), reader.describe(code));
    return;
  }
  const auto version = reader.number("PRAGMA schema_version");
  if (!version)
    fail_all(kind_of(version.error()), reader.describe(version.error()));
  else if (*version != version_ || !by->is_in_place() || (file_ && *file_ != reader.identity()))
    is_stale_ = true;
  else
    read_all(reader);
  reader.roll_back();
}

void cold_batch::read_all(connection& by) {
  statement select;
  const key_read* prepared_for = nullptr;
  for (const key_read& each : operations_) {
    if (copied_bytes_ >= bytes_max_) return;
    const bool is_same = prepared_for != nullptr && prepared_for->from == each.from &&
                         std::ranges::equal(prepared_for->columns, each.columns);
    if (!is_same) {
      select = by.prepare(select_row(*each.from, each.columns));
      prepared_for = &each;
    }
    if (!read_one(by, select.get(), each)) return;
  }
}

/// False: the others are not to be made.
bool cold_batch::read_one(connection& by, sqlite3_stmt* select, const key_read& operation) {
  if (select == nullptr) {
    const int code = sqlite3_extended_errcode(by.get());
    keep_failure(kind_of_refused(code), by.describe(code));
    return by.in_transaction();
  }
  memory_budget memory{page_bytes + bytes_max_ - copied_bytes_};
  const memory_budget::use here{memory};
  const running_statement run{select};
  const int code = step_to_row(select, operation);
  if (code == SQLITE_ROW) {
    if (!keep_row(select, operation)) return false;
    // SQLite expands a zeroblob() only when it is read, and returns NULL if it has no memory.
    if (!memory.was_exceeded()) return true;
    found_.pop_back();
    return leave(memory.wanted());
  }
  if (code == SQLITE_DONE) {
    found_.push_back({.is = found::outcome::missing});
    return true;
  }
  if (memory.was_exceeded())
    return leave(std::max(memory.wanted(), found_.empty() ? measure(by, operation) : 0));
  keep_failure(kind_of(code), by.describe(code));
  return by.in_transaction();
}

/// The size of the row for which SQLite had no memory, in bytes; 0: one value alone is too long.
/// A SELECT of the values fails at the first value too many; this query holds one value at a time.
std::size_t cold_batch::measure(connection& by, const key_read& operation) const {
  memory_budget memory{page_bytes + bytes_max_};
  const memory_budget::use here{memory};
  const statement sizes = by.prepare(select_sizes(*operation.from, operation.columns));
  if (sizes == nullptr || step_to_row(sizes.get(), operation) != SQLITE_ROW) return 0;
  return told_row_bytes(sizes.get(), operation.columns.size());
}

bool cold_batch::keep_row(sqlite3_stmt* row, const key_read& operation) {
  const std::size_t bytes = row_bytes(row, *operation.from, operation.columns);
  if (copied_bytes_ + bytes > bytes_max_) return leave(bytes);
  const std::span<const value> values =
      copy_values(row, *operation.from, operation.columns, room_, copied_bytes_);
  found_.push_back({.is = found::outcome::row, .values = values, .bytes = bytes});
  return true;
}

/// What was found before is told first.
bool cold_batch::leave(std::size_t row_bytes) noexcept {
  if (found_.empty()) wanted_bytes_ = row_bytes;
  return false;
}

void cold_batch::keep_failure(failure_kind why, std::string_view message) {
  found_.push_back({.is = found::outcome::failed, .why = why, .message = room_.copy(message)});
}

void cold_batch::fail_all(failure_kind why, std::string_view message) {
  for (std::size_t i = 0; i < operations_.size(); ++i) keep_failure(why, message);
}

std::size_t cold_batch::tell(std::size_t first, std::size_t from, read_sink& to,
                             engine_counts& counts, memory_reservation& memory) const {
  for (std::size_t i = from; i < found_.size(); ++i) {
    const found& each = found_[i];
    switch (each.is) {
      case found::outcome::row:
        counts.rows_read.add();
        if (each.bytes <= long_row_bytes)
          to.row(first + i, each.values);
        else
          to.long_row(
              first + i, each.values,
              memory.split(told_bytes(each.bytes, each.values.size()), memory_kind::replies));
        break;
      case found::outcome::missing: to.missing(first + i); break;
      case found::outcome::failed:
        counts.failed(each.why);
        to.failed(first + i, {.kind = each.why, .message = each.message});
        break;
    }
    if (to.is_full()) break;
    if (to.is_turn_over()) return i + 1;
  }
  return found_.size();
}

}  // namespace weft::store::sqlite
