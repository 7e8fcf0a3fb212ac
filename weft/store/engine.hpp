// What keeps tables: the interface of all engines.
//
// Problem: a service that answers requests must not care whether rows lie in a file beside it or on
// machines elsewhere. Contract: an engine is one shard's, and so are its catalog and all that is
// said here. A batch goes in one call, and its sink is told of each operation once, in order, while
// the call lasts; what is warm is answered without a wait. The tables named must be of a catalog
// that the caller keeps, which may be older than schema(): where the table has changed since, the
// operation fails as failure_kind::schema_changed, and is to be made anew. An error of the call
// means that the sink was not told of the operations that are left: errc::cancelled and
// errc::timed_out as for all waits, errc::limit_exceeded when too many wait already,
// errc::unavailable where the rows are not to be had now, and nothing was written.
//
//   const catalog_ref schema = engine.schema();
//   const value key[] = {value::integer(17)};
//   const key_read operations[] = {{schema->find("shop", "orders"), key, columns}};
//   if (auto read = co_await engine.read(operations, sink); !read) co_return fail(read.error());
//
// Writes are told of once they are durable, and every read that begins after that sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/catalog.hpp>
#include <weft/store/failure.hpp>
#include <weft/store/scan.hpp>
#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

/// One row by its whole primary key.
struct key_read {
  const table* from;
  /// In the key's order, converted for its columns (convert.hpp).
  std::span<const value> key;
  /// What to give of the row, in this order.
  std::span<const column_position> columns;
};

/// An engine reserves memory for a row of which a value, or all values together, have more bytes.
inline constexpr std::size_t long_row_bytes = std::size_t{64} * 1024;
/// Bytes to reserve for the text that a sink makes of a row: Base64 adds a third, and each value
/// has a name and a tag.
[[nodiscard]] constexpr std::size_t told_bytes(std::size_t row_bytes,
                                               std::size_t columns) noexcept {
  return row_bytes + row_bytes / 3 + columns * 128 + 8192;
}

/// Who takes what a batch of reads finds.
class read_sink {
 public:
  /// The values are good until it returns.
  virtual void row(std::size_t operation, std::span<const value> values) = 0;
  /// row(), of a long row. `memory`: told_bytes() for what is made of the row, which may be kept.
  virtual void long_row(std::size_t operation, std::span<const value> values,
                        memory_reservation /*memory*/) {
    row(operation, values);
  }
  virtual void missing(std::size_t operation) = 0;
  virtual void failed(std::size_t operation, const failure& why) = 0;
  /// Whether so much has been made of the rows that others are to have their turn before the next
  /// operation. Asked after each; to say yes begins the next share.
  [[nodiscard]] virtual bool is_turn_over() { return false; }
  /// Whether no more is taken: the operations that are left are not made. Asked after each.
  [[nodiscard]] virtual bool is_full() const { return false; }
  /// Bytes of the memory from long_row() that the sink holds until the batch ends.
  [[nodiscard]] virtual std::size_t kept_bytes() const { return 0; }

 protected:
  ~read_sink() = default;
};

enum class write_kind : std::uint8_t {
  insert,  // fails where there is such a row
  update,  // of the columns given; missing where there is none
  upsert,  // updates the row, or inserts it
  remove,  // missing where there is none
};

/// A change of one row, which its whole primary key names.
struct key_write {
  write_kind kind;
  const table* to;
  /// As of a key_read.
  std::span<const value> key;
  /// What is set, and to what, one for one; no column of the key.
  std::span<const column_position> columns{};
  std::span<const value> values{};
};

/// Who takes what has become of a batch of writes.
class write_sink {
 public:
  virtual void done(std::size_t operation) = 0;
  /// There is no such row, or a rule of the table has passed this one over without an error (in
  /// SQLite a trigger, by RAISE(IGNORE)); the others were done all the same.
  virtual void missing(std::size_t operation) = 0;
  virtual void failed(std::size_t operation, const failure& why) = 0;

 protected:
  ~write_sink() = default;
};

class engine {
 public:
  engine() = default;
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  virtual ~engine() = default;

  /// As of now: hold on to it while a request is under way.
  [[nodiscard]] virtual const catalog_ref& schema() const noexcept = 0;
  /// Whether the rows were to be had when it was tried last.
  [[nodiscard]] virtual bool is_reachable() const noexcept { return true; }
  /// Sees whether the schema has changed, now and not at the next interval.
  [[nodiscard]] virtual task<result<void>> refresh() = 0;
  /// For a caller that names what schema() does not have, or has a value that it does not allow:
  /// waits for a look at the schema that begins after the call. Afterwards schema() has what
  /// exists. Callers share looks, whose rate is bounded (schema_looks.hpp).
  [[nodiscard]] virtual task<result<void>> after_miss() = 0;

  /// Committed rows, each as of a moment after the call began.
  [[nodiscard]] virtual borrowing_task<result<void>> read(
      std::span<const key_read> operations WEFT_LIFETIME_BOUND, read_sink& to) = 0;

  /// Tells `to` of rows in order, and gives what the next request goes on from; empty: there are no
  /// more. Rows are committed ones, each as of a moment after the call began, and none comes twice
  /// or is left out that is there throughout. errc::invalid_argument: the table has no key, or the
  /// continuation is not one of such a scan. errc::limit_exceeded: filters too deep or too many
  /// ranges, or as for reads. errc::timed_out and errc::cancelled may come after some rows.
  [[nodiscard]] virtual borrowing_task<result<std::string>> scan(
      const scan_request& request WEFT_LIFETIME_BOUND, scan_sink& to) = 0;

  /// All of the batch or, where one operation fails, none: the others have then failed as
  /// failure_kind::rolled_back. All are of one database, or it is errc::invalid_argument.
  /// errc::limit_exceeded: too many writes wait already; nothing was done. A stop request or a
  /// deadline takes back what waits in line; what has begun is awaited to its end.
  [[nodiscard]] virtual borrowing_task<result<void>> write(
      std::span<const key_write> operations WEFT_LIFETIME_BOUND, write_sink& to) = 0;
};

}  // namespace weft::store
