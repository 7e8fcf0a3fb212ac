#include <weft/coro/frame_pool.hpp>

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include <weft/base/pages.hpp>
#include <weft/base/poison.hpp>
#include <weft/base/thread_owned.hpp>

namespace weft::frame_pool {
namespace {

constexpr std::size_t step = 16;  // what operator new aligns to, too
constexpr std::size_t classes = 4096 / step;
constexpr std::size_t slab_bytes = 64 * 1024;
/// To unmap a slab takes as long as to sort so many blocks.
constexpr std::size_t blocks_per_unmapping = 64;

constexpr bool pooled = WEFT_ADDRESS_SANITIZER == 0;

struct free_block {
  free_block* next;
};

/// At a multiple of its size, so that a block leads to it; cut into blocks of one class.
struct alignas(64) slab {
  explicit slab(std::size_t of) noexcept : size_class{of} {}

  slab* next = nullptr;  // of all
  slab* previous = nullptr;
  slab* next_sorted = nullptr;  // of those of its class that have sorted blocks
  slab* previous_sorted = nullptr;
  free_block* free = nullptr;  // sorted ones
  std::size_t free_blocks = 0;
  std::size_t cut_blocks = 0;
  std::size_t size_class;
};

/// A doubly linked list of slabs, by one of their pairs of links.
template <slab* slab::* Next, slab* slab::* Previous>
struct slab_list {
  void push(slab& added) noexcept {
    added.*Next = first;
    if (first != nullptr) first->*Previous = &added;
    first = &added;
  }
  void remove(slab& gone) noexcept {
    (gone.*Previous != nullptr ? gone.*Previous->*Next : first) = gone.*Next;
    if (gone.*Next != nullptr) gone.*Next->*Previous = gone.*Previous;
    gone.*Next = gone.*Previous = nullptr;
  }
  slab* first = nullptr;
};

slab& slab_of(free_block& block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&block);
  return *reinterpret_cast<slab*>(address - address % slab_bytes);
}

constexpr std::size_t bytes_of(std::size_t size_class) { return (size_class + 1) * step; }

/// One thread's free lists. What is freed goes to the list of its class, without a look at its
/// slab. trim() sorts these lists: each block goes to its slab, and a slab that has all of its
/// blocks back goes to the system. An empty list is filled from sorted blocks first.
/// The slabs are freed when the thread ends: by somebody else, for an object with a destructor is
/// asked on each access whether it is there.
class pool {
 public:
  constexpr pool() = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  void free_slabs() noexcept {
    while (slab* const each = slabs_.first) {
      slabs_.remove(*each);
      unmap_pages(reinterpret_cast<char*>(each), slab_bytes);
    }
  }

  void* take(std::size_t size_class) {
    free_block*& head = free_[size_class];
    if (head == nullptr) [[unlikely]]
      refill(size_class);
    free_block* block = head;
    head = block->next;
    return block;
  }

  void give(void* memory, std::size_t size_class) noexcept {
    free_[size_class] = ::new (memory) free_block{free_[size_class]};
  }

  [[nodiscard]] bool trim(std::size_t blocks_max) noexcept;

  std::size_t live = 0;

  [[nodiscard]] std::size_t live_bytes() const noexcept {
    std::size_t bytes = cut_bytes_;
    const auto subtract = [&bytes](const free_block* block, std::size_t size_class) {
      for (; block != nullptr; block = block->next) bytes -= bytes_of(size_class);
    };
    for (std::size_t i = 0; i < classes; ++i) subtract(free_[i], i);
    subtract(unsorted_, sorted_class_);
    for (const slab* each = slabs_.first; each != nullptr; each = each->next)
      bytes -= each->free_blocks * bytes_of(each->size_class);
    return bytes;
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return cut_bytes_; }

 private:
  void refill(std::size_t size_class);
  void cut(std::size_t size_class);
  /// Gives how much work that was, in blocks.
  std::size_t sort(free_block& block) noexcept;
  void release(slab& whole) noexcept;

  using all_slabs = slab_list<&slab::next, &slab::previous>;
  using sorted_slabs = slab_list<&slab::next_sorted, &slab::previous_sorted>;

  std::array<free_block*, classes> free_{};
  std::array<sorted_slabs, classes> sorted_{};
  std::array<slab*, classes> cutting_{};  // those that have room for more blocks
  all_slabs slabs_;
  free_block* unsorted_ = nullptr;  // of sorted_class_: taken out of its list to be sorted
  std::size_t sorted_class_ = 0;
  std::size_t next_class_ = 0;  // to be sorted
  std::size_t cut_bytes_ = 0;
};

constinit thread_local pool frames;

void remember_to_free_slabs() {
  static const thread_end end{[](void* of) { static_cast<pool*>(of)->free_slabs(); }};
  if (!end.call_with(&frames)) throw std::bad_alloc{};
}

void pool::refill(std::size_t size_class) {
  if (unsorted_ != nullptr && size_class == sorted_class_) {
    give(std::exchange(unsorted_, unsorted_->next), size_class);
  } else if (slab* const sorted = sorted_[size_class].first; sorted != nullptr) {
    sorted_[size_class].remove(*sorted);
    free_[size_class] = std::exchange(sorted->free, nullptr);
    sorted->free_blocks = 0;
  } else {
    cut(size_class);
  }
}

void pool::cut(std::size_t size_class) {
  slab*& from = cutting_[size_class];
  if (from == nullptr) {
    remember_to_free_slabs();
    char* const memory = map_pages(slab_bytes, slab_bytes);
    if (memory == nullptr) throw std::bad_alloc{};
    from = ::new (memory) slab{size_class};
    slabs_.push(*from);
  }
  const std::size_t block_bytes = bytes_of(size_class);
  char* const blocks = reinterpret_cast<char*>(from) + sizeof(slab);
  give(blocks + from->cut_blocks++ * block_bytes, size_class);
  cut_bytes_ += block_bytes;
  if ((from->cut_blocks + 1) * block_bytes > slab_bytes - sizeof(slab)) from = nullptr;
}

bool pool::trim(std::size_t blocks_max) noexcept {
  for (std::size_t done = 0; done < blocks_max;) {
    if (unsorted_ != nullptr) {
      done += sort(*std::exchange(unsorted_, unsorted_->next));
    } else if (next_class_ == classes) {
      next_class_ = 0;
      return false;
    } else {
      sorted_class_ = next_class_++;
      unsorted_ = std::exchange(free_[sorted_class_], nullptr);
    }
  }
  return true;
}

std::size_t pool::sort(free_block& block) noexcept {
  slab& home = slab_of(block);
  block.next = std::exchange(home.free, &block);
  if (home.free_blocks++ == 0) sorted_[home.size_class].push(home);
  if (home.free_blocks < home.cut_blocks) return 1;
  release(home);
  return blocks_per_unmapping;
}

void pool::release(slab& whole) noexcept {
  sorted_[whole.size_class].remove(whole);
  if (cutting_[whole.size_class] == &whole) cutting_[whole.size_class] = nullptr;
  slabs_.remove(whole);
  cut_bytes_ -= whole.cut_blocks * bytes_of(whole.size_class);
  unmap_pages(reinterpret_cast<char*>(&whole), slab_bytes);
}

constexpr std::size_t class_of(std::size_t size_bytes) { return (size_bytes - 1) / step; }

}  // namespace

void* allocate(std::size_t size_bytes) {
  const std::size_t size_class = class_of(size_bytes);
  void* const frame =
      !pooled || size_class >= classes ? ::operator new(size_bytes) : frames.take(size_class);
  ++frames.live;
  return frame;
}

void deallocate(void* frame, std::size_t size_bytes) noexcept {
  --frames.live;
  const std::size_t size_class = class_of(size_bytes);
  if (!pooled || size_class >= classes) {
    ::operator delete(frame);
    return;
  }
  frames.give(frame, size_class);
}

bool trim(std::size_t blocks_max) noexcept { return frames.trim(blocks_max); }

std::size_t live_frames() noexcept { return frames.live; }

std::size_t live_bytes() noexcept { return frames.live_bytes(); }

std::size_t held_bytes() noexcept { return frames.held_bytes(); }

}  // namespace weft::frame_pool
