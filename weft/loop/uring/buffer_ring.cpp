#include <weft/loop/uring/buffer_ring.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include <weft/base/format.hpp>

namespace weft {
namespace {

constexpr std::size_t ring_bytes = buffer_ring::entries * sizeof(io_uring_buf);

}  // namespace

buffer_ring::~buffer_ring() {
  if (ring_ != nullptr) ::munmap(ring_, ring_bytes);
}

result<void> buffer_ring::open(io_uring& ring, std::string& why) {
  void* memory =
      ::mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    const error refused = error::from_errno(errno);
    why = "mmap of the buffer ring: " + refused.message();
    return fail(refused);
  }
  ring_ = static_cast<io_uring_buf_ring*>(memory);
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  registration.ring_entries = entries;
  registration.bgid = group;
  const int code = -io_uring_register_buf_ring(&ring, &registration, 0);
  if (code != 0) {
    why = weft::format("registering the buffer ring: {}", std::generic_category().message(code));
    return fail(error::from_errno(code));
  }
  io_uring_buf_ring_init(ring_);
  with_kernel_.resize(buffer_pool::slots_limit);
  return {};
}

void buffer_ring::close(io_uring& ring) noexcept {
  if (ring_ == nullptr || with_kernel_.empty()) return;
  // The ring is about to end, and its last operation has been answered.
  io_uring_unregister_buf_ring(&ring, group);
  for (std::uint32_t slot = 0; slot < with_kernel_.size(); ++slot)
    if (with_kernel_[slot]) pool_.release(slot);
  with_kernel_.clear();
  lent_ = 0;
}

void buffer_ring::top_up() noexcept {
  // Without counting those not read yet a burst of many connections would take twice the memory: as
  // many buffers whose bytes wait for their readers as there are lent beside them.
  const std::size_t held = pool_.in_use() - lent_;
  const std::size_t wanted = held + least < most ? most - held : least;
  int added = 0;
  std::uint32_t slot = 0;
  while (lent_ < wanted && pool_.take(slot)) {
    io_uring_buf_ring_add(ring_, pool_.address(slot), buffer_pool::slot_capacity,
                          static_cast<unsigned short>(slot), io_uring_buf_ring_mask(entries),
                          added);
    with_kernel_[slot] = true;
    ++added;
    ++lent_;
  }
  if (added != 0) io_uring_buf_ring_advance(ring_, added);
}

void buffer_ring::took_back(std::uint32_t slot) noexcept {
  with_kernel_[slot] = false;
  --lent_;
}

}  // namespace weft
