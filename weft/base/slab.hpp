// A pool of objects of one type.
//
// Problem: connections, timers and operations come and go millions of times; the general allocator
// spends more on each than the object's own work, and scatters them. Contract: objects live in
// chunks, never move, and are handed out again last in, first out, while their memory is warm in
// the cache. The first chunk is about 1 KiB, later ones double up to about 64 KiB; chunks are freed
// with the slab only. Under AddressSanitizer a free slot is poisoned, so that use after destroy is
// found. Single thread.
//
//   weft::slab<connection> connections;
//   connection* c = connections.create(descriptor);
//   connections.destroy(c);
#pragma once

#include <weft/base/assert.hpp>
#include <weft/base/poison.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace weft {

namespace detail {

// Slots of one size, without a type: what slab<T> is made of. `slot_bytes` is a multiple of
// `slot_alignment`, and both are at least those of a pointer.
class slot_pool {
 public:
  slot_pool(std::size_t slot_bytes, std::size_t slot_alignment) noexcept;
  ~slot_pool();
  slot_pool(const slot_pool&) = delete;
  slot_pool& operator=(const slot_pool&) = delete;

  [[nodiscard]] void* take() {
    if (free_ == nullptr) return take_fresh();
    void* const slot = free_;
    unpoison(slot, slot_bytes_);
    free_ = free_->next;
    ++in_use_;
    return slot;
  }

  void give_back(void* slot) noexcept {
    free_ = ::new (slot) free_slot{free_};
    poison(slot, slot_bytes_);
    --in_use_;
  }

  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

 private:
  struct free_slot {
    free_slot* next;
  };
  struct chunk {
    chunk* previous;
    std::size_t size_bytes;
  };

  [[nodiscard]] void* take_fresh();
  void add_chunk();

  free_slot* free_ = nullptr;   // given back, latest first
  std::byte* fresh_ = nullptr;  // never handed out so far, up to fresh_end_
  std::byte* fresh_end_ = nullptr;
  std::size_t in_use_ = 0;
  std::size_t slot_bytes_;
  std::size_t slot_alignment_;
  std::size_t next_chunk_slots_;
  chunk* chunks_ = nullptr;  // the newest; each knows the one before
};

}  // namespace detail

template <class T>
class slab {
 public:
  slab() noexcept : pool_(slot_bytes, slot_alignment) {}

  // Frees the memory. Objects still in use are not destroyed: the owner asks in_use() where that
  // matters.
  ~slab() = default;

  // Constructs a T. Never nullptr; throws std::bad_alloc where a new chunk cannot be had, and what
  // the constructor throws (the slot is then free again).
  template <class... Args>
  [[nodiscard]] T* create(Args&&... args) {
    slot_guard guard{pool_, pool_.take()};
    T* const object = ::new (guard.slot) T(std::forward<Args>(args)...);
    guard.slot = nullptr;
    return object;
  }

  // Ends an object that create() of this slab gave, once.
  void destroy(T* object) noexcept {
    WEFT_DEBUG_ASSERT(object != nullptr, "destroy() takes what create() gave");
    WEFT_ASSERT(!is_poisoned(object), "the object was destroyed before");
    WEFT_DEBUG_ASSERT(in_use() > 0, "more objects destroyed than created");
    object->~T();
    pool_.give_back(object);
  }

  // Objects created and not yet destroyed.
  [[nodiscard]] std::size_t in_use() const noexcept { return pool_.in_use(); }

 private:
  static constexpr std::size_t slot_alignment = alignof(T) > alignof(void*) ? alignof(T)
                                                                            : alignof(void*);
  static constexpr std::size_t slot_bytes =
      (sizeof(T) + slot_alignment - 1) / slot_alignment * slot_alignment;

  // Gives the slot back when the constructor throws.
  struct slot_guard {
    detail::slot_pool& pool;
    void* slot;
    ~slot_guard() {
      if (slot != nullptr) pool.give_back(slot);
    }
  };

  detail::slot_pool pool_;
};

}  // namespace weft
