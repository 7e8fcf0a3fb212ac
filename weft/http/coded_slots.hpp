// How many codecs a middleware keeps at work at a time, and the memory that they have.
//
// Contract: private to weft/http's sources. A codec has up to tens of MiB of its own, and a client
// that is slow keeps it busy. So there is a number, and the codec's memory is reserved with the
// slot. A slot ends with the coded_slot; the coded_slots outlive them. One shard.
//
//   coded_slots slots{64};
//   if (coded_slot slot = slots.take(loop.memory(), codec_bytes)) ...   // else as it is, or later
#pragma once

#include <cstddef>
#include <utility>

#include <weft/loop/memory_share.hpp>

namespace weft::http {

class coded_slots;

class [[nodiscard]] coded_slot {
 public:
  coded_slot() noexcept = default;
  coded_slot(coded_slot&& other) noexcept
      : of_{std::exchange(other.of_, nullptr)}, memory_{std::move(other.memory_)} {}
  coded_slot& operator=(coded_slot&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~coded_slot() { reset(); }

  explicit operator bool() const noexcept { return of_ != nullptr; }
  inline void reset() noexcept;

 private:
  friend class coded_slots;
  coded_slot(coded_slots& of, memory_reservation memory) noexcept
      : of_{&of}, memory_{std::move(memory)} {}

  coded_slots* of_ = nullptr;
  memory_reservation memory_;
};

class coded_slots {
 public:
  explicit coded_slots(unsigned most) noexcept : left_{most} {}
  coded_slots(const coded_slots&) = delete;
  coded_slots& operator=(const coded_slots&) = delete;

  /// Empty: as many are at work as may be, or there is no memory for another.
  coded_slot take(memory_share& all, std::size_t codec_bytes) noexcept {
    if (left_ == 0) return {};
    auto memory = all.try_reserve(memory_kind::output, codec_bytes, memory_priority::low);
    if (!memory) return {};
    --left_;
    return {*this, std::move(memory)};
  }

 private:
  friend class coded_slot;
  unsigned left_;
};

inline void coded_slot::reset() noexcept {
  if (of_ != nullptr) ++std::exchange(of_, nullptr)->left_;
  memory_.reset();
}

}  // namespace weft::http
