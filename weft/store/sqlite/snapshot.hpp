// One moment of a database, with all at hand that a client's query needs of it.
//
// Problem: bounds on what a client wrote (confinement.hpp) would be bounds on the database's own
// schema, too, if that were read then: wide tables, long views; and modules of virtual tables
// prepare statements that no client may. Contract: from begin() to its end the connection reads in
// one transaction, has read the schema of that moment, and its virtual tables are connected, as
// json_each is; what SQLite would put into temporary files stays in memory. A table whose module
// does not connect fails with who reads it. The connection outlives it; of one thread at a time.
//
//   auto now = snapshot::begin(connection);
//   if (!now) return fail(now.error());
#pragma once

#include <expected>
#include <utility>

#include <weft/store/sqlite/handle.hpp>

namespace weft::store::sqlite {

class [[nodiscard]] snapshot {
 public:
  /// A result code of SQLite's.
  [[nodiscard]] static std::expected<snapshot, int> begin(connection& of);
  snapshot(snapshot&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
  snapshot& operator=(snapshot&&) = delete;
  ~snapshot();

 private:
  explicit snapshot(connection& of) noexcept : of_{&of} {}

  connection* of_;
};

}  // namespace weft::store::sqlite
