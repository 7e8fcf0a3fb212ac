// Rows on their way from a file into a table, written together.
//
// Contract: of one table of a catalog that the caller keeps. Values are converted as those of
// requests are (weft/store/convert.hpp); columns that the engine computes are passed over. What has
// been added stays until clear(). A batch of which one row breaks a rule is done without that row,
// once drop() has taken it out.
//
//   if (auto added = batch.add(line, file.cells()); !added) tell(line, added.error());
//   if (batch.is_full()) co_await engine.write(batch.writes(), batch);
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/store/engine.hpp>
#include <weft/store/scratch.hpp>

#include <apps/weftd/row_file.hpp>

namespace weftd {

class import_batch final : public weft::store::write_sink {
 public:
  static constexpr std::size_t rows_max = 1000;
  static constexpr std::size_t bytes_max = 1024 * 1024;

  /// A row that could not be written.
  struct cause {
    std::size_t operation;
    weft::store::failure_kind kind;
    std::string message;
    bool is_of_all;  // nobody knows which row it is
  };

  import_batch(const weft::store::table& to, weft::store::write_kind how) noexcept
      : to_{to}, how_{how} {}

  /// Else what is wrong with the row.
  [[nodiscard]] std::expected<void, std::string> add(std::uint64_t line,
                                                     std::span<const row_cell> cells);
  /// Where the reader may decode what it reads.
  [[nodiscard]] weft::store::scratch& room() noexcept { return room_; }
  [[nodiscard]] bool is_full() const noexcept {
    return writes_.size() >= rows_max || bytes_ >= bytes_max;
  }
  [[nodiscard]] std::span<const weft::store::key_write> writes() const noexcept { return writes_; }
  /// How many of them are written at once: one where a batch could not be undone, since the table
  /// has no transactions, and is refused by the engine.
  [[nodiscard]] std::size_t at_once() const noexcept {
    return to_.definition().has_transactions ? writes_.size() : 1;
  }
  [[nodiscard]] std::uint64_t line_of(std::size_t operation) const noexcept {
    return lines_[operation];
  }
  /// Why the last write was not done; nothing: it was.
  [[nodiscard]] std::optional<cause> take_cause() noexcept;
  /// How many rows of the last write a trigger has passed over.
  [[nodiscard]] std::size_t take_passed_over() noexcept { return std::exchange(passed_over_, 0U); }
  /// The first so many, which have been written or are wrong, are no more a part of it.
  void drop_first(std::size_t count);
  void drop(std::size_t operation);
  void clear() noexcept;

 private:
  void done(std::size_t /*operation*/) override {}
  void missing(std::size_t /*operation*/) override { ++passed_over_; }
  void failed(std::size_t operation, const weft::store::failure& why) override;

  const weft::store::table& to_;
  weft::store::write_kind how_;
  weft::store::scratch room_;
  std::size_t bytes_ = 0;
  std::vector<weft::store::key_write> writes_;
  std::vector<std::uint64_t> lines_;  // of the writes
  std::vector<bool> seen_;            // columns of the row that is added
  std::optional<cause> cause_;
  std::size_t passed_over_ = 0;
};

}  // namespace weftd
