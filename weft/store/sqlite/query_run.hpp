// One query of a client's, on threads that may wait for the disk.
//
// Contract: each advance() finds some of the next rows, 256 or 64 KiB of them at most, and keeps
// copies, which tell() hands over on the shard; between two the statement stays where it is, in one
// snapshot, on a connection of its own, confined (confinement.hpp), with so much memory at most.
// It ends once `until` has passed, stop() was called, or the database's writer calls on readers to
// leave (writer.hpp), within a slice too; then it holds nothing of the database any more. Of one
// thread at a time, but for stop().
//
//   query_run run{storage, request, {.until = until, .memory_bytes = 128U << 20U}};
//   do co_await blocking([&] { run.advance(); });
//   while (run.tell(sink) && !run.is_over());
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/store/query.hpp>
#include <weft/store/scratch.hpp>
#include <weft/store/sqlite/confinement.hpp>
#include <weft/store/sqlite/memory_budget.hpp>
#include <weft/store/sqlite/query_shape.hpp>
#include <weft/store/sqlite/snapshot.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {

struct query_bounds {
  /// Of the steady clock.
  time_point until;
  std::uint64_t memory_bytes;
};

/// What one is told of that has ended since the writer called on it to leave.
inline constexpr const char* kept_the_log =
    "the query kept the database's log from being emptied, and was ended: ask for less, or try "
    "again later";

class query_run {
 public:
  query_run(storage& from, const query_request& request, const query_bounds& bounds)
      : from_{from},
        request_{request},
        writer_{from.writer_of(request.database)},
        bounds_{bounds},
        memory_{bounds.memory_bytes} {}
  query_run(const query_run&) = delete;
  query_run& operator=(const query_run&) = delete;
  ~query_run() = default;

  void advance();
  /// Gives back what it holds of the database, where nobody asks for more. May wait for the disk.
  void end() noexcept;
  /// Any thread: nobody waits for it any more.
  void stop() noexcept { is_unwanted_.store(true, std::memory_order_relaxed); }

  /// What the last advance() has found, until the sink's turn is over: call it again while
  /// has_told_all() is false. False: the sink has enough.
  [[nodiscard]] bool tell(query_sink& to);
  /// Nothing of the last advance() is left.
  [[nodiscard]] bool has_told_all() const noexcept { return told_ == rows_.size(); }
  /// How many rows that were.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }

  /// There is nothing more to be told.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// There are rows beyond rows_max.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }
  /// Why it ended too early, if the message is not empty.
  [[nodiscard]] const failure& fault() const noexcept { return fault_; }

 private:
  static int ask_whether_to_go_on(void* self);
  [[nodiscard]] bool is_to_end() noexcept;
  [[nodiscard]] bool begin();
  [[nodiscard]] bool check_text(const query_shape& shape);
  [[nodiscard]] bool prepare();
  [[nodiscard]] bool bind_all();
  [[nodiscard]] bool bind_by_name();
  [[nodiscard]] int bind_one(int at, const value& bound) noexcept;
  [[nodiscard]] bool read_columns();
  void find_rows();
  [[nodiscard]] bool keep_row(std::size_t& bytes);
  /// False.
  bool fail(failure_kind why, std::string message);
  bool refuse(query_fault of, std::string message);
  bool fail(int code);

  storage& from_;
  const query_request& request_;
  const writer& writer_;
  query_bounds bounds_;
  memory_budget memory_;
  std::atomic<bool> is_unwanted_{false};

  std::optional<storage::lease> by_;
  std::optional<snapshot> moment_;
  std::uint64_t calls_to_leave_ = 0;  // of its beginning
  std::optional<confinement> confined_;
  statement select_;
  std::vector<column> columns_;
  scratch room_;
  std::vector<std::span<const value>> rows_;
  std::size_t rows_before_ = 0;
  std::size_t told_ = 0;  // of rows_
  std::string message_;
  failure fault_;
  bool has_told_columns_ = false;
  bool is_over_ = false;
  bool is_cut_ = false;
  bool is_late_ = false;
  bool is_in_the_way_ = false;
};

}  // namespace weft::store::sqlite
