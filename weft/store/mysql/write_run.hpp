// A batch of writes as one transaction.
//
// Problem: who is told that nothing was done must be able to rely on it, though the way to the
// server may break at any byte, and nobody must write twice. Contract: run() does all of the
// operations or none, once, and tell() says what has become of each. A single one changes its row
// by one statement, which commits itself; it, and the COMMIT of others, is awaited though the
// caller may wait no longer, for `patience` at most. Errors of run() mean that nothing was done:
// after errc::unavailable, which the server or the way to it is to blame for, it may be run anew.
// Where the connection is lost, the server fails or memory runs out in the middle of a commit,
// nobody knows, and all operations have failed as failure_kind::unknown. Several operations, one of
// them on a table without transactions, are refused as failure_kind::invalid: the server could not
// undo them. Many rows of a table that come one after the other are inserted by one statement;
// where that fails, all is undone and done anew row by row, since the server does not say whose
// fault it was.
//
//   write_run batch{operations, std::chrono::seconds{10}};
//   if (const auto run = co_await batch.run(connection); !run) co_return run;
//   batch.tell(sink, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/engine_counts.hpp>

namespace weft::store::mysql {

class write_run {
 public:
  write_run(std::span<const key_write> operations, duration patience)
      : operations_{operations}, patience_{patience}, outcomes_(operations.size()) {}

  /// As connection::execute(); errc::unavailable where the connection was lost before the commit.
  [[nodiscard]] task<result<void>> run(connection& by);
  /// Whether a table is not what the operations take it for.
  [[nodiscard]] bool is_stale() const noexcept { return is_stale_; }
  /// Whether it was committed.
  [[nodiscard]] bool is_done() const noexcept { return failed_ == nobody; }

  void tell(write_sink& to, engine_counts& counts) const;

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  static constexpr std::size_t everybody = static_cast<std::size_t>(-2);
  enum class outcome : std::uint8_t { done, missing };

  /// Whether the server could not undo one of several operations; tell() says so then.
  [[nodiscard]] bool refuse_half_done();
  [[nodiscard]] task<result<void>> run_alone(connection& by);
  [[nodiscard]] task<result<void>> run_all(connection& by);
  /// How many operations from this one on are done by one statement.
  [[nodiscard]] std::size_t together_from(std::size_t operation) const noexcept;
  [[nodiscard]] task<result<void>> insert_together(connection& by, std::span<const key_write> rows);
  [[nodiscard]] task<result<void>> run_one(connection& by, std::size_t operation);
  [[nodiscard]] task<result<void>> upsert(connection& by, const key_write& operation);
  /// How many rows it has found; none where the charsets of the key's columns cannot hold the key.
  [[nodiscard]] task<result<std::uint64_t>> execute(connection& by, const key_write& operation,
                                                    write_kind as);
  /// With the parameters that are there.
  [[nodiscard]] task<result<std::uint64_t>> execute_text(connection& by, std::string_view sql);
  /// The server's word on an operation, which fails the batch. The connection is open.
  void fail_batch(const connection& by, std::size_t operation);
  void fail_unknown(const connection& by);
  /// As fail_unknown(), where memory ran out on the way.
  void lose_track(connection& by) noexcept;

  std::span<const key_write> operations_;
  duration patience_;
  std::vector<outcome> outcomes_;
  std::size_t failed_ = nobody;  // whose failure it was
  failure_kind why_ = failure_kind::other;
  std::string message_;
  bool is_stale_ = false;
  bool is_row_by_row_ = false;
  std::vector<value> parameters_;
};

}  // namespace weft::store::mysql
