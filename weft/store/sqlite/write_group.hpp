// Batches of writes to one database, in one transaction.
//
// Problem: a commit takes as long as the disk takes to say that it has it, however much is in it.
// Contract: run() makes all batches, each in a savepoint of its own, so that one which fails takes
// nothing of the others with it, and commits. A batch that finds the schema changed is stale. An
// error that ends the transaction (a full disk, a commit that fails) gives false: nothing was done,
// and fault() says why. The writer's thread.
//
//   write_group group{connection, statements};
//   if (!group.run(batches)) ...
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

  [[nodiscard]] bool run(std::span<queued_write* const> batches);
  /// Why run() gave false.
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// The operation of its batch that has ended the transaction; nothing: none of them.
  [[nodiscard]] std::optional<std::size_t> culprit() const noexcept { return culprit_; }

 private:
  [[nodiscard]] bool step(const char* sql);
  [[nodiscard]] bool run_batch(queued_write& batch);
  [[nodiscard]] bool run_operations(queued_write& batch);
  [[nodiscard]] int run_operation(const key_write& operation);
  [[nodiscard]] int run_once(const key_write& operation);
  [[nodiscard]] bool give_up(int code);

  connection& by_;
  text_statements& statements_;
  std::int64_t version_ = 0;
  int code_ = SQLITE_OK;
  std::string fault_;
  std::optional<std::size_t> culprit_;
};

}  // namespace weft::store::sqlite
