// Buffers lent to the kernel: it picks one when bytes arrive, so that waiting connections need
// none.
//
// Contract: slots come from the shard's buffer_pool and are the kernel's until it names them in an
// answer: took_back(). top_up() lends so many that with those the program still holds they are
// `most`, but at least `least`, as far as the pool has them. lent() says how many receives would
// find one. One thread.
//
//   buffers.top_up();
//   buffers.took_back(answer.flags >> IORING_CQE_BUFFER_SHIFT);
#pragma once

#include <liburing.h>

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/loop/buffer_pool.hpp>

namespace weft {

class buffer_ring {
 public:
  /// Of the ring: a power of two.
  static constexpr unsigned entries = 256;
  /// The kernel uses buffers in turn, so that all of them become resident and pass through the
  /// cache: 3 MiB where much comes in. One too few costs a connection a second receive.
  static constexpr unsigned most = 192;
  /// Lent however much the program holds, so that one who hoards does not starve the others.
  static constexpr unsigned least = 64;
  static constexpr int group = 0;

  explicit buffer_ring(buffer_pool& pool) noexcept : pool_{pool} {}
  buffer_ring(const buffer_ring&) = delete;
  buffer_ring& operator=(const buffer_ring&) = delete;
  ~buffer_ring();

  [[nodiscard]] result<void> open(io_uring& ring, std::string& why);
  /// After the last operation has been answered and before the pool ends.
  void close(io_uring& ring) noexcept;

  void top_up() noexcept;
  /// Buffers the kernel has not used yet.
  [[nodiscard]] unsigned lent() const noexcept { return lent_; }
  [[nodiscard]] bool has_lent(std::uint32_t slot) const noexcept { return with_kernel_[slot]; }
  /// The kernel has used `slot`, which is out of the pool still.
  void took_back(std::uint32_t slot) noexcept;

 private:
  buffer_pool& pool_;
  io_uring_buf_ring* ring_ = nullptr;
  unsigned lent_ = 0;
  std::vector<bool> with_kernel_;
};

}  // namespace weft
