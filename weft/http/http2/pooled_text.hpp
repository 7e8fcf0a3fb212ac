// Text that grows, in memory of the frame pool.
//
// Contract: moving it leaves the text where it is, so that views into it stay valid; append() and
// extend() may move it, if it was not reserve()d. Up to 4 KiB the pool serves, then the heap. One
// shard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include <weft/coro/frame_pool.hpp>

namespace weft::http::http2 {

class pooled_text {
 public:
  pooled_text() noexcept = default;
  pooled_text(pooled_text&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)},
        size_{std::exchange(other.size_, 0)},
        capacity_{std::exchange(other.capacity_, 0)} {}
  pooled_text& operator=(pooled_text&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~pooled_text() {
    if (data_ != nullptr) frame_pool::deallocate(data_, capacity_);
  }

  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  void clear() noexcept { size_ = 0; }

  void reserve(std::size_t size_bytes) {
    if (size_bytes > capacity_) grow(size_bytes);
  }
  void append(std::string_view text) {
    if (!text.empty()) std::memcpy(extend(text.size()), text.data(), text.size());
  }
  /// Room for `size_bytes` more, which are to be written there.
  [[nodiscard]] char* extend(std::size_t size_bytes) {
    reserve(size_ + size_bytes);
    return data_ + std::exchange(size_, size_ + size_bytes);
  }

 private:
  static constexpr std::size_t least_bytes = 1024;

  [[gnu::noinline]] void grow(std::size_t size_bytes) {
    const std::size_t larger = std::max({size_bytes, capacity_ * 2, least_bytes});
    char* const data = static_cast<char*>(frame_pool::allocate(larger));
    if (size_ != 0) std::memcpy(data, data_, size_);
    if (data_ != nullptr) frame_pool::deallocate(data_, capacity_);
    data_ = data;
    capacity_ = larger;
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace weft::http::http2
