// Memory for what a request makes on its way: canonical texts, decoded bytes, copied rows.
//
// Contract: what make() gives stays where it is until clear(), which keeps the memory for the next
// request, up to `kept_bytes`; so a warm scratch allocates nothing. Nothing is destroyed: for bytes
// and trivial types. With count_by(), a large one counts against the memory budget, and make()
// throws std::bad_alloc if the shard has no memory for it. Single thread.
//
//   scratch room;
//   std::span<char> text = room.make(20);
//   room.clear();                               // the text is gone
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/loop/memory_share.hpp>

namespace weft::store {

class scratch {
 public:
  static constexpr std::size_t kept_bytes = 256 * 1024;

  scratch() noexcept = default;
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  scratch(scratch&&) noexcept = default;
  scratch& operator=(scratch&&) noexcept = default;

  [[nodiscard]] std::span<char> make(std::size_t size_bytes) {
    return {static_cast<char*>(take(size_bytes, 1)), size_bytes};
  }
  /// So many of a trivial type, not initialised.
  template <class T>
    requires std::is_trivially_destructible_v<T>
  [[nodiscard]] std::span<T> make_array(std::size_t count) {
    return {static_cast<T*>(take(count * sizeof(T), alignof(T))), count};
  }
  [[nodiscard]] std::string_view copy(std::string_view text);

  void clear() noexcept;

  /// What it has beyond `uncounted_bytes`, until clear(), is memory of requests of this share,
  /// which outlives it.
  void count_by(memory_share& all, std::size_t uncounted_bytes) noexcept {
    share_ = &all;
    uncounted_bytes_ = uncounted_bytes;
  }

  /// What it has of the system.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }

 private:
  struct chunk {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size_bytes;
  };

  [[nodiscard]] void* take(std::size_t size_bytes, std::size_t alignment) {
    const std::size_t start = (used_ + alignment - 1) & ~(alignment - 1);
    if (start + size_bytes > room_) [[unlikely]]
      return take_elsewhere(size_bytes);
    used_ = start + size_bytes;
    return here_ + start;
  }
  [[nodiscard]] void* take_elsewhere(std::size_t size_bytes);
  void enter(chunk& next) noexcept;
  void count(std::size_t bytes);

  std::byte* here_ = nullptr;  // the chunk in use
  std::size_t room_ = 0;
  std::size_t used_ = 0;
  std::size_t entered_ = 0;  // chunks in use
  std::size_t held_bytes_ = 0;
  std::vector<chunk> chunks_;
  memory_share* share_ = nullptr;
  std::size_t uncounted_bytes_ = 0;
  memory_reservation counted_;
};

}  // namespace weft::store
