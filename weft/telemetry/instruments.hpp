// What code on a shard counts with: counters, gauges and histograms.
//
// Problem: to measure a request must not cost what is worth measuring. Contract: an instrument is
// eight bytes, copied freely, got from the shard's meter (meter.hpp), and used on that shard's
// thread alone; other threads read snapshots. So no instruction needs the bus lock: an addition is
// one instruction to memory, a histogram's value some fifteen instructions. Nothing here allocates,
// blocks or fails.
//
//   requests_.add();
//   connections_.set(open);
//   latency_.record(loop.now() - started);
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/base/time.hpp>
#include <weft/loop/loop_gauges.hpp>
#include <weft/telemetry/buckets.hpp>

namespace weft::telemetry {

class distribution;
class meter;

namespace detail {

/// One number with one writer and any reader.
using cell = weft::gauge;

/// A histogram that is read while it is written: each number for itself, so a reader may see a
/// value counted whose sum it does not see yet.
struct alignas(64) histogram_cells {
  cell sum;
  cell max;
  std::array<cell, buckets::count> counts;

  void record(std::uint64_t value) noexcept {
    counts[buckets::of(value)].add(1);
    sum.add(value);
    if (value > max.get()) max.set(value);
  }
  void read_into(distribution& into) const;
};

}  // namespace detail

/// Only ever grows: requests, bytes, errors.
class counter {
 public:
  void add(std::uint64_t more = 1) noexcept { cell_->add(more); }
  [[nodiscard]] std::uint64_t value() const noexcept { return cell_->get(); }

 private:
  friend class meter;
  explicit counter(detail::cell& cell) noexcept : cell_{&cell} {}
  detail::cell* cell_;
};

/// Goes up and down: connections open, bytes queued.
class gauge {
 public:
  void set(std::int64_t value) noexcept { cell_->set(static_cast<std::uint64_t>(value)); }
  void add(std::int64_t more) noexcept { cell_->add(static_cast<std::uint64_t>(more)); }
  [[nodiscard]] std::int64_t value() const noexcept {
    return static_cast<std::int64_t>(cell_->get());
  }

 private:
  friend class meter;
  explicit gauge(detail::cell& cell) noexcept : cell_{&cell} {}
  detail::cell* cell_;
};

/// How values are distributed: latencies, sizes. A percentile is read within 0.8 % of the truth.
class histogram {
 public:
  void record(std::uint64_t value) noexcept { cells_->record(value); }
  /// In nanoseconds; a negative one, of a clock that jumped, counts as 0.
  void record(duration length) noexcept {
    record(length.count() > 0 ? static_cast<std::uint64_t>(length.count()) : 0);
  }

 private:
  friend class meter;
  explicit histogram(detail::histogram_cells& cells) noexcept : cells_{&cells} {}
  detail::histogram_cells* cells_;
};

}  // namespace weft::telemetry
