// Whose scan goes on next: of one shard.
//
// Problem: a scan that finds little may look at rows for seconds, and the threads that do so are
// those that look-ups wait for. Contract: so many slices are run at a time, in the order in which
// they come; a scan of many goes to the end of the line after each. errc::cancelled and
// errc::timed_out as for all waits.
//
//   scan_line scans{options.scans_max};
//   if (auto run = co_await scans.run(slice); !run) co_return fail(run.error());
#pragma once

#include <cstddef>

#include <weft/coro/semaphore.hpp>
#include <weft/coro/task.hpp>
#include <weft/store/sqlite/scan_slice.hpp>

namespace weft::store::sqlite {

class scan_line {
 public:
  explicit scan_line(std::size_t at_a_time) noexcept : free_{at_a_time} {}
  scan_line(const scan_line&) = delete;
  scan_line& operator=(const scan_line&) = delete;
  ~scan_line() = default;

  [[nodiscard]] task<result<void>> run(scan_slice& slice);

 private:
  semaphore free_;
};

}  // namespace weft::store::sqlite
