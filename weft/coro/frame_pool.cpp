#include <weft/coro/frame_pool.hpp>

#include <array>
#include <new>

#include <weft/base/poison.hpp>

namespace weft::frame_pool {
namespace {

constexpr std::size_t step = 16;  // what operator new aligns to, too
constexpr std::size_t classes = 4096 / step;
constexpr std::size_t slab_bytes = 64 * 1024;

constexpr bool pooled = WEFT_ADDRESS_SANITIZER == 0;

struct free_block {
  free_block* next;
};

struct slab_header {
  slab_header* next;
};

/// One thread's free lists. Slabs are carved once and returned to the system when the thread ends:
/// by somebody else, for an object with a destructor is asked on each access whether it is there.
class pool {
 public:
  constexpr pool() = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  void free_slabs() noexcept {
    while (slabs_ != nullptr) {
      slab_header* next = slabs_->next;
      ::operator delete(slabs_);
      slabs_ = next;
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

  std::size_t live = 0;

  [[nodiscard]] std::size_t live_bytes() const noexcept {
    std::size_t bytes = carved_bytes_;
    for (std::size_t i = 0; i < classes; ++i)
      for (const free_block* block = free_[i]; block != nullptr; block = block->next)
        bytes -= (i + 1) * step;
    return bytes;
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return carved_bytes_; }

 private:
  void refill(std::size_t size_class);

  std::array<free_block*, classes> free_{};
  slab_header* slabs_ = nullptr;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t carved_bytes_ = 0;
};

constinit thread_local pool frames;

struct slab_owner {
  ~slab_owner() { frames.free_slabs(); }
};

void pool::refill(std::size_t size_class) {
  const std::size_t block_bytes = (size_class + 1) * step;
  if (block_bytes > left_) {
    thread_local const slab_owner owner;
    auto* memory = static_cast<std::byte*>(::operator new(slab_bytes));
    slabs_ = ::new (memory) slab_header{slabs_};
    next_ = memory + step;
    left_ = slab_bytes - step;
  }
  give(next_, size_class);
  next_ += block_bytes;
  left_ -= block_bytes;
  carved_bytes_ += block_bytes;
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

std::size_t live_frames() noexcept { return frames.live; }

std::size_t live_bytes() noexcept { return frames.live_bytes(); }

std::size_t held_bytes() noexcept { return frames.held_bytes(); }

}  // namespace weft::frame_pool
