// A part of a scan, on a thread that may wait for the disk.
//
// Problem: a scan may find millions of rows, or look at millions and find none, and neither memory
// nor a transaction nor a thread may be held for all of them. Contract: run() finds rows from
// `place` on, 256 or 256 KiB of them at most, in a transaction of its own, and keeps copies; the
// next slice goes on after last_place(). One that takes longer than its turn ends there: is_long().
// It may then have come to no row, where SQLite sorts what it finds by another index; by steps it
// goes by the order alone, and comes further each time. It ends with is_late() once `until` has
// passed, or with is_stopped() once it was asked to stop, for all of which it looks as it goes. It
// ends before a row with which it would have more than `bytes_max` bytes; SQLite is refused the
// memory for one that is far longer. Where it is the first, wanted_bytes() returns how much it has,
// or more than before: reserve cold_batch::memory_for() that much, and begin anew.
//
//   scan_slice slice{storage, version, request, place, rows_left, bytes_max,
//                    {.until = until, .turn = turn}};
//   co_await blocking([&] { slice.run(); });
//   slice.tell(sink, 0, memory);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/store/scan.hpp>
#include <weft/store/scratch.hpp>
#include <weft/store/sqlite/scan_sql.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {

struct scan_pace {
  time_point until = time_point::max();  // of the steady clock
  duration turn = duration::max();
  bool by_steps = false;
};

class scan_slice {
 public:
  /// `version`: of the schema that the request is of.
  scan_slice(storage& from, std::int64_t version, const scan_request& request,
             std::span<const value> place, std::size_t rows_max, std::size_t bytes_max,
             scan_pace pace);

  // Any thread.

  void run();
  /// Ends run() soon, without more rows.
  void stop() noexcept { is_stopped_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }
  /// 0: there is a row, or there is none.
  [[nodiscard]] std::size_t wanted_bytes() const noexcept { return wanted_bytes_; }
  /// Of rows from `first` on, until the sink's turn is over, or before one that it does not take:
  /// it is full then. Gives the next one. `memory`: for what is made of them.
  std::size_t tell(scan_sink& to, std::size_t first, memory_reservation& memory) const;
  /// Whether there may be rows after those.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// Of the last of the first `rows` rows or, where these are all, of the last one that was looked
  /// at; copies in `room`. Empty: there is none.
  [[nodiscard]] std::span<const value> last_place(std::size_t rows, scratch& room) const;

  /// Which it has looked at; none: it has come to none.
  [[nodiscard]] const std::optional<file_identity>& file() const noexcept { return file_; }

  /// Whether its turn was over before it was.
  [[nodiscard]] bool is_long() const noexcept { return is_long_; }
  [[nodiscard]] bool is_stale() const noexcept { return is_stale_; }
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }
  [[nodiscard]] bool is_stopped() const noexcept {
    return is_stopped_.load(std::memory_order_relaxed);
  }
  /// Why it ended too early, if the message is not empty.
  [[nodiscard]] const failure& fault() const noexcept { return fault_; }

 private:
  void find_all(connection& by);
  [[nodiscard]] int find(connection& by, scan_step from);
  [[nodiscard]] std::size_t measure(connection& by, scan_step from);
  void begin_turn() noexcept;
  struct found {
    std::span<const value> values;
    std::span<const value> place;
  };

  [[nodiscard]] int step(connection& by, sqlite3_stmt* select, scan_step from);
  void take(sqlite3_stmt* row, bool is_found);
  /// Ends before a row of so many bytes.
  void leave(std::size_t row_bytes) noexcept;
  void fail(failure_kind why, std::string message);
  static int look_up_from_work(void* self);
  static void tell_whether_turn_is_over(sqlite3_context* to, int, sqlite3_value**);

  storage& from_;
  std::int64_t version_;
  const scan_request& request_;
  std::span<const value> place_;
  scan_pace pace_;
  bool tells_found_;        // whether a row says in its last column if it is found
  std::size_t place_size_;  // of a row, in values
  std::size_t rows_max_;
  std::size_t bytes_max_;
  time_point turn_ends_;
  scratch room_;
  std::vector<found> rows_;
  std::size_t bytes_ = 0;
  std::size_t wanted_bytes_ = 0;
  std::span<const value> last_;  // of the order
  std::optional<file_identity> file_;
  std::string message_;
  failure fault_;
  bool has_more_ = false;
  bool is_too_long_ = false;  // the row before which it has ended
  bool is_long_ = false;
  bool is_stale_ = false;
  bool is_late_ = false;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace weft::store::sqlite
