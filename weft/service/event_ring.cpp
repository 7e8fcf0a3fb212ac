#include <weft/service/event_ring.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include <weft/service/event_type.hpp>

namespace weft {
namespace {

static_assert(event_ring::cell_bytes_max >=
              event_type::inline_bytes_max + event_header_bytes + sizeof(void*));

constexpr std::size_t largest = event_chunk_pool::chunk_bytes.size() - 1;
constexpr std::size_t deep_bytes = 1024 * 1024;  // from here on a ring grows by the largest

/// Memory for a chunk of the largest size, at a multiple of it, so that one huge page can back it.
void* map_largest() noexcept {
  constexpr std::size_t bytes = event_chunk_pool::chunk_bytes[largest];
  void* const mapped =
      ::mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (bytes - reinterpret_cast<std::uintptr_t>(begin) % bytes) % bytes;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, bytes - before);
  // Both are wishes: without huge pages, or on a kernel before 5.14, pages come one by one.
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  ::madvise(begin + before, bytes, MADV_POPULATE_WRITE);
#endif
  return begin + before;
}

}  // namespace

event_chunk_pool::~event_chunk_pool() {
  for (event_chunk* const each : spare_)
    if (each != nullptr) free(each);
}

event_chunk* event_chunk_pool::take(std::size_t size_class) noexcept {
  if (spare_[size_class] != nullptr) return std::exchange(spare_[size_class], nullptr);
  const std::size_t bytes = chunk_bytes[size_class];
  void* const memory = size_class == largest ? map_largest() : ::operator new(bytes, std::nothrow);
  if (memory == nullptr) return nullptr;
  held_bytes_ += bytes;
  held_bytes_max_ = std::max(held_bytes_max_, held_bytes_);
  return ::new (memory) event_chunk{.next = nullptr, .size_class = size_class};
}

void event_chunk_pool::give_back(event_chunk* drained) noexcept {
  drained->next = nullptr;
  event_chunk*& spare = spare_[drained->size_class];
  if (spare == nullptr)
    spare = drained;
  else
    free(drained);
}

void event_chunk_pool::free(event_chunk* unused) noexcept {
  const std::size_t size_class = unused->size_class;
  held_bytes_ -= chunk_bytes[size_class];
  if (size_class == largest)
    ::munmap(unused, chunk_bytes[largest]);
  else
    ::operator delete(unused);
}

event_ring::~event_ring() {
  while (head_ != nullptr) chunks_.give_back(std::exchange(head_, head_->next));
}

std::byte* event_ring::claim_in_next() noexcept {
  const std::size_t size_class = bytes_ == 0 ? 0 : bytes_ < deep_bytes ? 1 : largest;
  event_chunk* const added = chunks_.take(size_class);
  if (added == nullptr) return nullptr;
  bytes_ += event_chunk_pool::chunk_bytes[size_class];
  if (tail_ == nullptr) {
    head_ = added;
    read_ = first_cell(added);
  } else {
    tail_->next = added;
    std::memset(write_, 0, event_header_bytes);
  }
  tail_ = added;
  write_ = first_cell(added);
  end_ = reinterpret_cast<std::byte*>(added) + event_chunk_pool::chunk_bytes[size_class] -
         event_header_bytes;
  return write_;
}

void event_ring::go_on_in_next() noexcept {
  event_chunk* const drained = std::exchange(head_, head_->next);
  bytes_ -= event_chunk_pool::chunk_bytes[drained->size_class];
  chunks_.give_back(drained);
  read_ = first_cell(head_);
}

}  // namespace weft
