// Internal: cells of events in a row, first in, first out, in chunks of memory.
//
// Problem: millions of events may wait, of all sizes; most of what a deep queue costs is the page
// faults of memory that is new, and a shallow one should stay in the cache. Contract: cells lie one
// behind the other, each behind an eight-byte header that is not 0. The first chunk is 4 KiB, later
// ones 64 KiB, and 2 MiB once a ring holds 1 MiB: those are aligned, asked for as huge pages, and
// given to the process in one call. A drained chunk goes back to the pool, which keeps one spare of
// each size. A ring that runs empty begins anew at the start of its last chunk. front() is valid,
// where it is, until pop(). One shard.
//
//   std::byte* cell = ring.claim(bytes);      // nullptr: no memory
//   ... write it ...
//   ring.commit(bytes);
//   while (!ring.empty()) { use(ring.front()); ring.pop(bytes); }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft {

struct event_chunk {
  event_chunk* next;
  std::size_t size_class;
  // Cells follow, and a header of 0 where the next chunk goes on.
};

/// Where the rings of a bus get their chunks.
class event_chunk_pool {
 public:
  static constexpr std::array<std::size_t, 3> chunk_bytes{4096, 64 * 1024, 2 * 1024 * 1024};

  event_chunk_pool() noexcept = default;
  event_chunk_pool(const event_chunk_pool&) = delete;
  event_chunk_pool& operator=(const event_chunk_pool&) = delete;
  ~event_chunk_pool();

  /// nullptr: no memory.
  [[nodiscard]] event_chunk* take(std::size_t size_class) noexcept;
  void give_back(event_chunk* drained) noexcept;

  /// Chunks in use and spare ones.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }
  [[nodiscard]] std::size_t held_bytes_max() const noexcept { return held_bytes_max_; }

 private:
  void free(event_chunk* unused) noexcept;

  std::array<event_chunk*, chunk_bytes.size()> spare_{};
  std::size_t held_bytes_ = 0;
  std::size_t held_bytes_max_ = 0;
};

class event_ring {
 public:
  /// A cell is no larger than this.
  static constexpr std::size_t cell_bytes_max = 2048;

  explicit event_ring(event_chunk_pool& chunks) noexcept : chunks_{chunks} {}
  event_ring(const event_ring&) = delete;
  event_ring& operator=(const event_ring&) = delete;
  ~event_ring();

  [[nodiscard]] bool empty() const noexcept { return read_ == write_; }

  /// Room for a cell of `bytes`, a multiple of 8, behind all others, which is then written and
  /// committed before anything else is asked of the ring; nullptr: no memory.
  [[nodiscard]] std::byte* claim(std::size_t bytes) noexcept {
    if (static_cast<std::size_t>(end_ - write_) < bytes) [[unlikely]]
      return claim_in_next();
    return write_;
  }
  void commit(std::size_t bytes) noexcept { write_ += bytes; }

  /// The oldest cell; there is one.
  [[nodiscard]] std::byte* front() noexcept {
    if (header_at(read_) == 0) [[unlikely]]
      go_on_in_next();
    return read_;
  }
  void pop(std::size_t bytes) noexcept {
    read_ += bytes;
    if (read_ == write_) begin_anew();
  }

  [[nodiscard]] static std::uintptr_t header_at(const std::byte* cell) noexcept {
    std::uintptr_t header = 0;
    std::memcpy(&header, cell, sizeof header);
    return header;
  }

 private:
  [[nodiscard]] std::byte* claim_in_next() noexcept;
  void go_on_in_next() noexcept;
  void begin_anew() noexcept { read_ = write_ = first_cell(head_); }
  [[nodiscard]] static std::byte* first_cell(event_chunk* chunk) noexcept {
    return reinterpret_cast<std::byte*>(chunk) + sizeof(event_chunk);
  }

  event_chunk_pool& chunks_;
  std::byte* read_ = nullptr;
  std::byte* write_ = nullptr;
  std::byte* end_ = nullptr;  // of the last chunk, less its header of 0
  event_chunk* head_ = nullptr;
  event_chunk* tail_ = nullptr;
  std::size_t bytes_ = 0;  // of all chunks
};

}  // namespace weft
