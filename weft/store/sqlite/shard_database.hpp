// One database, as one shard reads it.
//
// Problem: a look-up takes a microsecond, and a transaction of its own another two. Contract: all
// reads of a turn share one transaction, which the first of them begins and end_turn() ends; a
// commit of this process ends it before, so that who was told of a write sees it. Nothing here
// waits for the disk or another program: what would is outcome::cold, and is to be done elsewhere.
// So is a row with a value of more than long_row_bytes, which SQLite refuses before it copies it.
// A schema that has changed, or a file that has lost its name, is outcome::stale before a wrong row
// is given: the first read of each transaction looks at the files, once its moment is fixed. The
// shard's alone.
//
//   nowait_reads here{blind};
//   switch (shop.read(i, operation, room, here, sink)) { case outcome::cold: ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/store/engine.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/handle.hpp>
#include <weft/store/sqlite/nowait_reads.hpp>
#include <weft/store/sqlite/statement_cache.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {

class shard_database {
 public:
  enum class outcome : std::uint8_t { told, cold, stale };

  shard_database(std::string name, connection opened, storage& of, std::size_t statements_max,
                 engine_counts& counts) noexcept
      : name_{std::move(name)},
        connection_{std::move(opened)},
        of_{of},
        statements_{statements_max},
        counts_{counts} {}
  shard_database(const shard_database&) = delete;
  shard_database& operator=(const shard_database&) = delete;
  ~shard_database() { end_turn(); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Of zeros: it has none open.
  [[nodiscard]] file_identity identity() const noexcept {
    return connection_ ? connection_->identity() : file_identity{};
  }
  [[nodiscard]] std::int64_t version() const noexcept { return version_; }
  /// Whether a read failed of the file, so that it had better be opened anew.
  [[nodiscard]] bool is_suspect() const noexcept { return is_suspect_; }

  /// The tables are those of another catalog from now on, with the schema of this version.
  void follow(std::int64_t version) noexcept {
    version_ = version;
    statements_.clear();
  }

  /// Tells `to` of the operation, unless it is cold or stale. `room` is for the values.
  [[nodiscard]] outcome read(std::size_t number, const key_read& operation,
                             std::vector<value>& room, nowait_reads& here, read_sink& to);

  [[nodiscard]] bool in_transaction() const noexcept { return in_transaction_; }
  /// Closes its files where there is no memory to end the transaction otherwise.
  void end_turn() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return connection_.has_value(); }
  /// Sees whether the files are still those that have the names; is_suspect() where they are not.
  [[nodiscard]] bool is_in_place();
  /// Closes its files. From then on all reads are cold, and who makes them says what is wrong.
  void close() noexcept;

 private:
  [[nodiscard]] int begin() noexcept;
  void end_transaction() noexcept;
  [[nodiscard]] outcome fail(int code, failure_kind kind, std::size_t number,
                             const nowait_reads& here, read_sink& to);
  [[nodiscard]] int check_schema() noexcept;

  std::string name_;
  std::optional<connection> connection_;
  storage& of_;
  statement begin_;
  statement end_;
  statement ask_version_;
  statement_cache statements_;
  engine_counts& counts_;
  std::int64_t version_ = 0;
  std::uint64_t commits_seen_ = 0;
  bool in_transaction_ = false;
  bool is_checked_ = false;  // in this transaction
  bool is_suspect_ = false;
};

}  // namespace weft::store::sqlite
