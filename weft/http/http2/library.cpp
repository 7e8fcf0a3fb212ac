#include <weft/http/http2/library.hpp>

#include <cstddef>
#include <cstring>
#include <new>

#include <weft/coro/frame_pool.hpp>

namespace weft::http::http2 {
namespace {

/// The pool asks how large a block was when it is given back: that stands before it.
constexpr std::size_t before_block_bytes = alignof(std::max_align_t);
static_assert(before_block_bytes >= sizeof(std::size_t));

std::size_t size_of(const void* block) noexcept {
  std::size_t size = 0;
  std::memcpy(&size, static_cast<const char*>(block) - before_block_bytes, sizeof size);
  return size;
}

void* allocate(std::size_t size_bytes, void* /*unused*/) noexcept {
  if (size_bytes > SIZE_MAX - before_block_bytes) return nullptr;
  try {
    char* const memory = static_cast<char*>(frame_pool::allocate(size_bytes + before_block_bytes));
    std::memcpy(memory, &size_bytes, sizeof size_bytes);
    return memory + before_block_bytes;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void* block, void* /*unused*/) noexcept {
  if (block == nullptr) return;
  frame_pool::deallocate(static_cast<char*>(block) - before_block_bytes,
                         size_of(block) + before_block_bytes);
}

void* allocate_zeroed(std::size_t count, std::size_t each_bytes, void* unused) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, each_bytes, &all)) return nullptr;
  void* const block = allocate(all, unused);
  if (block != nullptr) std::memset(block, 0, all);
  return block;
}

void* reallocate(void* block, std::size_t size_bytes, void* unused) noexcept {
  if (block == nullptr) return allocate(size_bytes, unused);
  const std::size_t before = size_of(block);
  if (size_bytes <= before && size_bytes != 0) return block;
  void* const larger = allocate(size_bytes, unused);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, before < size_bytes ? before : size_bytes);
  release(block, unused);
  return larger;
}

}  // namespace

nghttp2_mem* pooled_memory() noexcept {
  static nghttp2_mem memory{.mem_user_data = nullptr,
                            .malloc = &allocate,
                            .free = &release,
                            .calloc = &allocate_zeroed,
                            .realloc = &reallocate};
  return &memory;
}

std::string_view name_of_code(std::uint32_t code) noexcept { return nghttp2_http2_strerror(code); }

option_handle make_options() {
  nghttp2_option* made = nullptr;
  if (nghttp2_option_new(&made) != 0) throw std::bad_alloc{};
  nghttp2_option_set_max_send_header_block_length(made, 16 * fields_most_bytes);
  return option_handle{made};
}

callbacks_handle make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc{};
  return callbacks_handle{made};
}

}  // namespace weft::http::http2
