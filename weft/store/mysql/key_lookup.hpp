// A batch of look-ups by key, in as few round trips as it can be.
//
// Problem: each question to a server costs a round trip, and whoever asks for a hundred rows wants
// one. Contract: group() puts together the operations of a table and its columns, up to 128, which
// run_next() asks for by one statement, and by a second one where only the server knows which of
// its texts is which key: 'ABC' may be the row 'abc'. Keys that their columns' charsets cannot
// hold, which the server refuses, cost a few more, however many they are. Several may be under way,
// each on a connection of its own. What was found is kept, so that the rest may be asked for on
// another connection after one has failed. tell() gives all of it to a sink, in order. Where the
// rows have more than `bytes_max` bytes, all operations fail as failure_kind::too_large, and what
// is still on its way is not read: the connection is closed. A row of more than 64 KiB has its
// memory from the connection. Other rows of more than `uncounted_bytes` together reserve
// `bytes_max` of the shard's memory. A batch for which there is none within a second fails in the
// same way, as failure_kind::no_memory. The operations stay, and so does what they span.
//
//   key_lookup batch{operations, 64U << 20U, loop.memory()};
//   batch.group();
//   while (batch.statements() != 0)
//     if (const auto run = co_await batch.run_next(connection, false); !run) co_return run;
//   for (std::size_t told = 0; told < batch.size();) told = batch.tell(told, sink, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <weft/coro/mutex.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/engine_counts.hpp>
#include <weft/store/scratch.hpp>

namespace weft::store::mysql {

class key_lookup {
 public:
  /// Rows of so many bytes in all are not asked about.
  static constexpr std::size_t uncounted_bytes = 64 * 1024;

  key_lookup(std::span<const key_read> operations, std::uint64_t bytes_max, memory_share& memory)
      : operations_{operations},
        bytes_max_{bytes_max},
        memory_{memory},
        found_(operations.size()) {}

  /// What the operation comes to without being asked for. Before group().
  void refuse(std::size_t operation, failure_kind why, std::string_view message);
  void group();
  /// Whom to ask to stop when a statement has all operations refused: the others may wait for long.
  void stop_if_refused(stop_source* others) noexcept { others_ = others; }
  /// Statements that are to be made, or made anew: as many calls of run_next() are of use at once.
  [[nodiscard]] std::size_t statements() const noexcept { return waiting_.size(); }

  /// One of those. Fails as connection::execute() does, where it was not the server that said why,
  /// and as errc::not_found where a replica may lack what the main server has, which is to be asked
  /// for the rest then.
  [[nodiscard]] task<result<void>> run_next(connection& by, bool is_on_replica);
  /// What a replica has said the last time it did so; good while the object lives.
  [[nodiscard]] std::string_view lack() const noexcept { return lack_; }
  /// Gives back what was reserved and is not needed: no more rows come.
  void settle_memory() noexcept { counted_.shrink(bytes_ - long_bytes_); }
  /// Whether a table is not what the operations take it for.
  [[nodiscard]] bool is_stale() const noexcept;

  /// Of operations from `first` on, until the sink's turn is over. Gives the next one.
  std::size_t tell(std::size_t first, read_sink& to, engine_counts& counts);
  [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }

 private:
  using numbers = std::span<const std::size_t>;  // of operations
  enum class outcome : std::uint8_t { open, row, missing, failed };
  struct found {
    outcome is = outcome::open;
    failure_kind why = failure_kind::other;
    std::span<const value> values{};
    std::size_t long_bytes = 0;  // 0: of a row that is not long
    std::string_view message{};
  };

  [[nodiscard]] bool is_open(std::size_t operation) const noexcept {
    return found_[operation].is == outcome::open;
  }
  [[nodiscard]] std::vector<std::size_t> open_of(numbers asked) const;
  /// Whether there were any that failed as where a replica is behind.
  [[nodiscard]] bool reopen(numbers asked) noexcept;
  [[nodiscard]] task<result<void>> look_up(connection& by, numbers asked);
  [[nodiscard]] task<result<void>> look_up_numbered(connection& by, numbers asked);
  /// Where the server refuses keys, some of which have characters that their columns cannot have:
  /// those have no row, and the others are asked for anew.
  [[nodiscard]] task<result<void>> look_up_held(connection& by, numbers asked);
  [[nodiscard]] task<result<statement*>> ask(connection& by, std::string_view sql, numbers asked);
  /// Gives each row that comes to `take`, as long as there is memory.
  template <class Take>
  [[nodiscard]] task<result<void>> take_rows(connection& by, statement& from, numbers asked,
                                             Take take);
  /// False: there is no memory for all the rows that may come.
  [[nodiscard]] task<result<bool>> reserve();
  /// What a call comes to that has failed: an error, or all of `asked` are answered.
  [[nodiscard]] task<result<void>> settle(connection& by, error why, numbers asked);
  /// As settle(), of what asking for fewer keys does not help.
  [[nodiscard]] result<void> settle_all(connection& by, error why, numbers asked);
  /// `why`: its message stays.
  void fail_all(numbers asked, const failure& why);
  /// Of a row of `by`, or of its last columns.
  [[nodiscard]] found copy_row(connection& by, std::span<const value> row);
  void tell_row(std::size_t operation, read_sink& to);
  void keep_row(std::size_t operation, const found& kept);
  void end_open(numbers asked);
  void refuse_all(failure_kind why, std::string_view message);

  std::span<const key_read> operations_;
  std::uint64_t bytes_max_;
  memory_share& memory_;
  std::size_t bytes_ = 0;           // kept
  std::size_t long_bytes_ = 0;      // of those, in long rows
  memory_reservation counted_;      // for the others, where they are many
  memory_reservation long_rows_;    // for those
  memory_reservation told_memory_;  // for what is made of those
  mutex reserving_;                 // of the statements at once
  bool has_no_memory_ = false;
  stop_source* others_ = nullptr;
  std::vector<found> found_;
  std::vector<std::size_t> order_;               // of operations, by groups
  std::vector<std::span<std::size_t>> waiting_;  // groups; the next at the back
  std::string_view lack_{};
  scratch room_;
};

}  // namespace weft::store::mysql
