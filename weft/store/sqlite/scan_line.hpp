// Whose scan goes on next: of one shard.
//
// Problem: a scan that finds little may look at rows for seconds, and the threads that do so are
// those that look-ups wait for. Contract: so many slices are run at a time, in the order in which
// they come; a scan of many goes to the end of the line after each. No more scans than may wait are
// let in beside those that run.
//
//   scan_line scans{options.scans_max, options.scans_waiting_max};
//   const auto place = scans.enter();                    // errc::limit_exceeded: too many wait
//   if (auto run = co_await scans.run(slice); !run) co_return fail(run.error());
#pragma once

#include <cstddef>
#include <memory>

#include <weft/coro/semaphore.hpp>
#include <weft/coro/task.hpp>
#include <weft/store/sqlite/scan_slice.hpp>

namespace weft::store::sqlite {

class scan_line {
  struct leaving {
    void operator()(scan_line* line) const noexcept { --line->scans_; }
  };

 public:
  scan_line(std::size_t at_a_time, std::size_t waiting_max) noexcept
      : free_{at_a_time}, scans_max_{at_a_time + waiting_max} {}
  scan_line(const scan_line&) = delete;
  scan_line& operator=(const scan_line&) = delete;
  ~scan_line() = default;

  /// A scan's, for as long as it lasts.
  using place = std::unique_ptr<scan_line, leaving>;
  [[nodiscard]] result<place> enter() noexcept;

  /// errc::cancelled and errc::timed_out as for all waits.
  [[nodiscard]] task<result<void>> run(scan_slice& slice);

 private:
  semaphore free_;
  std::size_t scans_max_;
  std::size_t scans_ = 0;
};

}  // namespace weft::store::sqlite
