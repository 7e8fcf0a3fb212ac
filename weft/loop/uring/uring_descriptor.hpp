// What the io_uring backend keeps of a socket, and the bytes that have come for it.
//
// Contract: an inbox is a queue of pool slots, linked through one entry a slot, so that a waiting
// connection costs eight bytes for it and a full one no allocation. A slot in an inbox is out of
// the pool; pop() hands it on, drop() gives it back. One thread.
//
//   inboxes.push(d, slot, size);
//   buffer_ref next = inboxes.pop(d);             // empty if nothing waits
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

inline constexpr std::uint32_t no_slot = ~std::uint32_t{0};

struct uring_descriptor : descriptor {
  std::uint32_t first = no_slot;  // the inbox
  std::uint32_t last = no_slot;
  std::uint16_t waiting = 0;                  // slots in it
  std::int16_t failure = 0;                   // what ended the stream, as errno
  operation* reader = nullptr;                // an accept or receive that waits, or at last a close
  std::unique_ptr<std::deque<int>> accepted;  // listeners only
  bool armed = false;                         // a multishot operation is with the kernel
  bool stopping = false;                      // and has been asked to end
  bool ended = false;                         // the peer will send no more
  bool closing = false;
  bool datagrams = false;  // gives them whole, each with its header and its peer
  list_hook starved;
  list_hook all;
};

static_assert(sizeof(uring_descriptor) <= 72, "every idle connection has one");

class inboxes {
 public:
  explicit inboxes(buffer_pool& pool) : pool_{pool} {}

  void push(uring_descriptor& d, std::uint32_t slot, std::uint32_t size_bytes) noexcept {
    entries_[slot] = {.next = no_slot, .size_bytes = size_bytes};
    (d.first == no_slot ? d.first : entries_[d.last].next) = slot;
    d.last = slot;
    ++d.waiting;
  }

  [[nodiscard]] buffer_ref pop(uring_descriptor& d) noexcept {
    if (d.first == no_slot) return {};
    const std::uint32_t slot = d.first;
    d.first = entries_[slot].next;
    --d.waiting;
    return pool_.adopt(slot, entries_[slot].size_bytes);
  }

  /// Calls `see` with each slot in the inbox of `d`, the oldest first.
  template <class F>
  void for_each(const uring_descriptor& d, F see) const {
    for (std::uint32_t slot = d.first; slot != no_slot; slot = entries_[slot].next) see(slot);
  }

  void drop(uring_descriptor& d) noexcept {
    while (d.first != no_slot) pop(d).reset();
  }

 private:
  struct entry {
    std::uint32_t next;
    std::uint32_t size_bytes;
  };
  buffer_pool& pool_;
  // Not initialised: only what was pushed is read, and slots never lent cost no memory.
  std::unique_ptr<entry[]> entries_ =
      std::make_unique_for_overwrite<entry[]>(buffer_pool::slots_limit);
};

}  // namespace weft
