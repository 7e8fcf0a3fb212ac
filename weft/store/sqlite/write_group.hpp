// Batches of writes to one database, in one transaction.
//
// Problem: a commit takes as long as the disk takes to say that it has it, however much is in it.
// Contract: run() makes all batches, each in a savepoint of its own, so that one which fails takes
// nothing of the others with it, and commits. A batch that finds the schema changed is stale. An
// error that ends the transaction (a full disk, a commit that fails) is outcome::undone: nothing
// was done, and fault() says why. Where memory or the disk fails in the midst of the commit it is
// outcome::unknown. Throws std::bad_alloc, whereupon the connection is to be closed; what is known
// of each batch by then is noted in it. The writer's thread.
//
//   write_group group{connection, statements};
//   if (group.run(batches) != write_group::outcome::done) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <weft/base/hash_map.hpp>
#include <weft/store/sqlite/handle.hpp>
#include <weft/store/sqlite/queued_write.hpp>

namespace weft::store::sqlite {

/// Prepared statements by their text.
class text_statements {
 public:
  /// nullptr: SQLite does not take it. Good until the next call.
  [[nodiscard]] sqlite3_stmt* find(connection& by, const std::string& sql);

 private:
  static constexpr std::size_t most = 256;
  hash_map<std::string, statement> by_text_;
};

class write_group {
 public:
  write_group(connection& by, text_statements& statements) noexcept
      : by_{by}, statements_{statements} {}

  enum class outcome : std::uint8_t { done, undone, unknown };
  /// Done: the caller has the batches settle().
  [[nodiscard]] outcome run(std::span<queued_write* const> batches);
  /// Whether the file had lost its name before the commit: nothing was done, and all are stale.
  [[nodiscard]] bool has_moved() const noexcept { return has_moved_; }
  /// Why it is not done.
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// The operation of its batch that has ended the transaction; nothing: none of them.
  [[nodiscard]] std::optional<std::size_t> culprit() const noexcept { return culprit_; }

  /// Whether the transaction could not be ended: the connection is of no more use.
  [[nodiscard]] bool is_stuck() const noexcept { return by_.in_transaction(); }

 private:
  [[nodiscard]] bool run_all(std::span<queued_write* const> batches);
  [[nodiscard]] outcome commit(std::span<queued_write* const> batches);
  [[nodiscard]] bool step(const char* sql);
  [[nodiscard]] bool run_batch(queued_write& batch);
  [[nodiscard]] bool run_operations(queued_write& batch);
  /// The kind says nothing of a code that is SQLITE_DONE.
  struct ran {
    int code;
    failure_kind kind;
  };
  [[nodiscard]] ran run_operation(const key_write& operation);
  [[nodiscard]] ran run_once(const key_write& operation);
  [[nodiscard]] bool give_up(int code);

  connection& by_;
  text_statements& statements_;
  std::int64_t version_ = 0;
  int code_ = SQLITE_OK;
  std::string fault_;
  std::optional<std::size_t> culprit_;
  bool has_moved_ = false;
};

}  // namespace weft::store::sqlite
