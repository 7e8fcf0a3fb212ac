// Memory that input arrives in. An idle connection holds none of it; a busy one borrows a slot for
// the length of a request, and the slot it gives back is the next one lent, while it is warm.
//
// Contract: slots of one size, mapped in chunks up to a limit. Their addresses stay until the pool
// ends; trim() gives the memory of free ones back to the system, which costs page faults when they
// are lent again.
// A buffer_ref owns one slot and gives it back when destroyed; it is a pointer, a length and an
// owner, moved and never copied. Every slot has `slack` readable bytes behind its capacity, so that
// wide scans may read past the end. One shard: a buffer_ref never crosses to another. Exhaustion is
// an empty buffer_ref, not an error: callers wait or shed.
//
//   buffer_ref bytes = pool.acquire();
//   auto n = ::recv(fd, bytes.data(), bytes.capacity(), 0);
//   bytes.resize(n);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/poison.hpp>

namespace weft {

class buffer_pool;
class memory_share;

class buffer_ref {
 public:
  buffer_ref() noexcept = default;
  buffer_ref(buffer_ref&& other) noexcept
      : pool_{std::exchange(other.pool_, nullptr)},
        data_{other.data_},
        size_{std::exchange(other.size_, 0)},
        slot_{other.slot_} {}
  buffer_ref& operator=(buffer_ref&& other) noexcept {
    if (this == &other) return *this;
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = other.data_;
    size_ = std::exchange(other.size_, 0);
    slot_ = other.slot_;
    return *this;
  }
  ~buffer_ref() { reset(); }

  [[nodiscard]] char* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::string_view text() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span{data_, size_});
  }

  /// Whether a slot is held, be it with or without bytes in it.
  [[nodiscard]] explicit operator bool() const noexcept { return pool_ != nullptr; }

  /// How many bytes fit from data() on.
  [[nodiscard]] std::size_t capacity() const noexcept;

  /// Sets how many bytes are meant; `size_bytes` is at most capacity().
  void resize(std::size_t size_bytes) noexcept { size_ = static_cast<std::uint32_t>(size_bytes); }

  /// Drops bytes from the front; `count` is at most size().
  void remove_prefix(std::size_t count) noexcept {
    data_ += count;
    size_ -= static_cast<std::uint32_t>(count);
  }

  /// Who counts the pool's memory; nullptr: nobody, or there is no slot.
  [[nodiscard]] memory_share* memory() const noexcept;

  /// Gives the slot back now.
  void reset() noexcept;

 private:
  friend class buffer_pool;
  buffer_ref(buffer_pool* pool, char* data, std::uint32_t size, std::uint32_t slot) noexcept
      : pool_{pool}, data_{data}, size_{size}, slot_{slot} {}

  buffer_pool* pool_ = nullptr;
  char* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t slot_ = 0;
};

class buffer_pool {
 public:
  static constexpr std::size_t slot_bytes = 16 * 1024;
  static constexpr std::size_t slack = 64;
  static constexpr std::size_t slot_capacity = slot_bytes - slack;
  /// io_uring names a buffer with 16 bits.
  static constexpr std::uint32_t slots_limit = 65'536;

  /// `counted_by`: of which memory; outlives the pool. None: nobody counts it.
  explicit buffer_pool(std::uint32_t slots_max = 16'384,
                       memory_share* counted_by = nullptr) noexcept;
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  ~buffer_pool();

  /// A slot with size() 0, or an empty reference when the limit is reached.
  [[nodiscard]] buffer_ref acquire() noexcept {
    std::uint32_t slot = 0;
    if (!take(slot)) return {};
    return adopt(slot, 0);
  }

  /// For backends that lend slots to the kernel: a slot by number, taken out of the pool until
  /// adopt() or release().
  [[nodiscard]] bool take(std::uint32_t& slot) noexcept {
    if (!has_free() && !grow()) [[unlikely]]
      return false;
    slot = free_[--free_count_];
    unpoison(address(slot), slot_bytes);
    return true;
  }
  /// Whether take() has a slot without asking the system for memory.
  [[nodiscard]] bool has_free() const noexcept { return free_count_ != 0; }
  /// A reference to the first `size_bytes` of a slot taken before.
  [[nodiscard]] buffer_ref adopt(std::uint32_t slot, std::size_t size_bytes) noexcept {
    return {this, address(slot), static_cast<std::uint32_t>(size_bytes), slot};
  }
  void release(std::uint32_t slot) noexcept {
    poison(address(slot), slot_bytes);
    free_[free_count_++] = slot;
  }

  [[nodiscard]] char* address(std::uint32_t slot) const noexcept {
    return chunks_[slot / slots_per_chunk] + (slot % slots_per_chunk) * slot_bytes;
  }

  [[nodiscard]] std::uint32_t slots_max() const noexcept { return slots_max_; }
  /// Output takes a quarter of the slots and no more, and never more than 4,096; beyond that it
  /// uses the heap. Clients that ask and take no replies must leave slots for others' input.
  [[nodiscard]] std::size_t slots_for_output() const noexcept { return slots_for_output_; }
  [[nodiscard]] memory_share* memory() const noexcept { return memory_; }
  /// Gives back the memory of at most `count` of the slots that are free, beginning with the
  /// `first` of them; the kept_slots that are lent next keep theirs. Gives where to go on;
  /// free_slots(): nowhere.
  std::size_t trim(std::size_t first, std::size_t count) noexcept;
  static constexpr std::size_t kept_slots = 16;
  [[nodiscard]] std::size_t free_slots() const noexcept { return free_count_; }

  /// Slots lent out now, to users or to the kernel.
  [[nodiscard]] std::size_t in_use() const noexcept {
    return chunks_.size() * slots_per_chunk - free_count_;
  }
  /// Which, in order: for reports.
  [[nodiscard]] std::vector<std::uint32_t> slots_in_use() const;

 private:
  static constexpr std::uint32_t slots_per_chunk = 128;
  bool grow() noexcept;

  std::uint32_t slots_max_;
  std::size_t slots_for_output_;  // computed once: each reply asks
  memory_share* memory_;
  std::vector<char*> chunks_;
  std::vector<std::uint32_t> free_;  // a stack with room for every slot there is
  std::size_t free_count_ = 0;
};

inline std::size_t buffer_ref::capacity() const noexcept {
  // A slot lies at a multiple of its size.
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(data_) % buffer_pool::slot_bytes;
  return buffer_pool::slot_capacity - offset;
}

inline memory_share* buffer_ref::memory() const noexcept {
  return pool_ != nullptr ? pool_->memory() : nullptr;
}

inline void buffer_ref::reset() noexcept {
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->release(slot_);
  size_ = 0;
}

}  // namespace weft
