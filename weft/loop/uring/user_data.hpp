// What an answer of the kernel is for: a pointer and, in its low bits, what it points to.
//
// Contract: objects are aligned to eight bytes, as every descriptor and operation is; the pointer
// is valid until the entry that carries it has been answered for the last time.
//
//   io_uring_sqe_set_data64(&entry, data_for(&op, tag::send));
//   if (tag_of(answer.user_data) == tag::send) finish(object_of<operation>(answer.user_data));
#pragma once

#include <cstdint>

namespace weft {

enum class tag : std::uint64_t {
  send = 0,
  receive = 1,
  accept = 2,
  close = 3,
  wake = 4,
  ignored = 5,
  datagram = 6,
  listed = 7
};

inline constexpr std::uint64_t tag_mask = 7;

[[nodiscard]] inline std::uint64_t data_for(const void* object, tag t) noexcept {
  return reinterpret_cast<std::uint64_t>(object) | static_cast<std::uint64_t>(t);
}

[[nodiscard]] inline tag tag_of(std::uint64_t data) noexcept {
  return static_cast<tag>(data & tag_mask);
}

template <class T>
[[nodiscard]] T& object_of(std::uint64_t data) noexcept {
  return *reinterpret_cast<T*>(data & ~tag_mask);
}

}  // namespace weft
