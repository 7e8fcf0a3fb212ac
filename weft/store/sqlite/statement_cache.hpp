// Prepared statements by table and columns, the most lately used of them.
//
// Problem: preparing a statement takes thirty times as long as running it. Contract: find() gives
// the statement for a table's columns or makes it; so many are kept, and the one that was not used
// for the longest time goes first. What is found is good until the next find() or clear(). A table
// is told by its address, so clear() before a catalog goes. One connection's, which outlives it. A
// statement that gives a value of more than long_row_bytes, or less where it has many columns,
// fails with SQLITE_TOOBIG before SQLite copies the value.
//
//   statement_cache statements{256};
//   if (cached_statement* found = statements.find(connection, table, columns))
//     run(found->run.get());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <weft/base/hash_map.hpp>
#include <weft/base/intrusive_list.hpp>
#include <weft/store/sqlite/handle.hpp>
#include <weft/store/table.hpp>

namespace weft::store::sqlite {

struct cached_statement {
  const table* from;
  std::vector<column_position> columns;
  statement run;
  int value_bytes_max;  // the connection's bound while it is the last
  list_hook by_use;

  [[nodiscard]] bool is_for(const table& wanted,
                            std::span<const column_position> of) const noexcept;
  /// Whether SQLite has prepared it anew since it was made, because the schema has changed. It does
  /// so as the statement begins to run.
  [[nodiscard]] bool was_reprepared() const noexcept {
    return sqlite3_stmt_status(run.get(), SQLITE_STMTSTATUS_REPREPARE, 0) != 0;
  }
};

class statement_cache {
 public:
  explicit statement_cache(std::size_t most) noexcept : most_{most} {}
  statement_cache(const statement_cache&) = delete;
  statement_cache& operator=(const statement_cache&) = delete;
  ~statement_cache() { clear(); }

  /// nullptr: there is none yet, and make() may make it.
  [[nodiscard]] cached_statement* find(connection& by, const table& from,
                                       std::span<const column_position> columns) noexcept {
    if (last_ != nullptr && last_->is_for(from, columns)) return last_;
    return find_other(by, from, columns);
  }
  /// nullptr: SQLite does not take it, and the connection knows why.
  [[nodiscard]] cached_statement* make(connection& by, const table& from,
                                       std::span<const column_position> columns);

  [[nodiscard]] std::size_t size() const noexcept { return by_hash_.size(); }
  void clear() noexcept;

 private:
  [[nodiscard]] cached_statement* find_other(connection& by, const table& from,
                                             std::span<const column_position> columns) noexcept;
  void forget(cached_statement& gone) noexcept;
  void bound_values(connection& of, int bytes_max) noexcept;

  std::size_t most_;
  int value_bytes_max_ = 0;  // of the connection; 0: not known
  cached_statement* last_ = nullptr;
  hash_map<std::uint64_t, std::unique_ptr<cached_statement>> by_hash_;
  intrusive_list<cached_statement, &cached_statement::by_use> by_use_;  // the latest at the back
};

}  // namespace weft::store::sqlite
