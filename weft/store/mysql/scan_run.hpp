// A scan, part by part: each a statement of its own, on whichever connection is free.
//
// Problem: a scan may find millions of rows, and neither memory nor a connection may be held for
// all of them. Contract: each advance() tells the sink of some of the next rows, up to the first
// with which they have 256 KiB, and 1024 at most; the next goes on after the last of them. It asks
// for as many as the last ones let expect to have so much, and closes the connection rather than to
// read much more. A long row has its memory from the connection. A part for whose first row there
// is none fails as errc::exhausted; others end before such a row. An advance() that has failed has
// told of nothing, and may be made anew on another connection.
//
//   scan_run run{request, place};
//   while (!run.is_over() && !sink.is_full())
//     if (const auto part = co_await run.advance(connection, sink); !part) co_return part;
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weft/store/mysql/connection.hpp>
#include <weft/store/scan.hpp>
#include <weft/store/scratch.hpp>

namespace weft::store::mysql {

class scan_run {
 public:
  /// `place`: of the row to go on after; empty: from the beginning. Good while the object lives.
  scan_run(const scan_request& request, std::span<const value> place) noexcept;

  [[nodiscard]] task<result<void>> advance(connection& by, scan_sink& to);
  /// There are no more rows, or no more are wanted.
  [[nodiscard]] bool is_over() const noexcept { return is_over_ || left_ == 0; }
  [[nodiscard]] bool has_more() const noexcept { return !is_over_; }
  /// Of the last row that was told of.
  [[nodiscard]] std::span<const value> place() const noexcept { return place_; }
  [[nodiscard]] std::size_t rows() const noexcept { return request_.limit - left_; }

 private:
  /// The rows of a part, and whether there are more.
  [[nodiscard]] task<result<void>> read_rows(connection& by, statement& from, std::size_t rows_max);
  /// Of the rows on their way nobody wants `rows`, if there are as many.
  [[nodiscard]] task<void> drop_rest(connection& by, statement& of, std::size_t rows) const;
  void keep_row(connection& by, const statement& from);
  [[nodiscard]] task<void> tell(scan_sink& to);
  /// False: the sink has no memory for it.
  [[nodiscard]] bool tell_row(std::span<const value> row, scan_sink& to);
  void forget_part() noexcept;
  void adapt(std::size_t rows_max) noexcept;

  const scan_request& request_;
  std::span<const value> place_;
  scratch room_;  // of place_
  std::size_t left_;
  std::size_t rows_at_once_;
  std::vector<std::span<const value>> part_;
  std::size_t part_bytes_ = 0;
  scratch part_room_;
  memory_reservation part_memory_;  // of its long rows
  memory_reservation told_memory_;  // for what is made of those
  bool is_over_ = false;
};

}  // namespace weft::store::mysql
