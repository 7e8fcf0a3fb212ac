// Which socket an epoll event means: a slot number and the generation of its tenant.
//
// Contract: slots never move; find() gives nullptr for a tenant that has gone. One thread.
//
//   epoll_descriptor& d = table.insert(fd);
//   event.data.u64 = d.tag;
//   if (epoll_descriptor* tenant = table.find(event.data.u64)) ...
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

class epoll_backend;

struct epoll_descriptor : descriptor {
  std::uint64_t tag = 0;
  epoll_backend* owner = nullptr;
  operation* reader = nullptr;  // parked until an edge
  operation* writer = nullptr;
  bool readable = false;
  bool writable = true;
  bool hung_up = false;
  std::uint32_t next_free = 0;
  list_hook starved;  // where the reader waits for a buffer, not for an edge
};

static_assert(sizeof(epoll_descriptor) <= 72, "every idle connection has one");

class descriptor_table {
 public:
  epoll_descriptor& insert(int fd) {
    if (first_free_ == 0) grow();
    epoll_descriptor& d = slot(first_free_ - 1);
    first_free_ = d.next_free;
    const std::uint64_t tag = d.tag;
    std::destroy_at(&d);
    std::construct_at(&d);
    d.fd = fd;
    d.tag = tag;
    ++used_;
    return d;
  }

  void erase(epoll_descriptor& d) noexcept {
    const auto index = static_cast<std::uint32_t>(d.tag);
    d.fd = -1;
    d.tag = index | ((d.tag >> 32U) + 1) % generations << 32U;
    d.next_free = first_free_;
    first_free_ = index + 1;
    --used_;
  }

  [[nodiscard]] epoll_descriptor* find(std::uint64_t tag) noexcept {
    epoll_descriptor& d = slot(static_cast<std::uint32_t>(tag));
    return d.tag == tag && d.fd >= 0 ? &d : nullptr;
  }

  [[nodiscard]] std::size_t size() const noexcept { return used_; }

  template <class F>
  void for_each(F f) {
    for (auto& chunk : chunks_)
      for (std::uint32_t i = 0; i < chunk_slots; ++i)
        if (chunk[i].fd >= 0) f(chunk[i]);
  }

  /// Calls `see` with each operation that is parked, and the descriptor it is asked of.
  template <class F>
  void for_each_waiting(F see) {
    for_each([&](const epoll_descriptor& d) {
      if (d.reader != nullptr) see(*d.reader, d.fd);
      if (d.writer != nullptr) see(*d.writer, d.fd);
    });
  }

 private:
  static constexpr std::uint32_t chunk_slots = 64;
  /// 31 bits of generation: the top bit of a tag is the backend's, for events that mean no socket.
  static constexpr std::uint64_t generations = std::uint64_t{1} << 31U;

  [[nodiscard]] epoll_descriptor& slot(std::uint32_t index) noexcept {
    return chunks_[index / chunk_slots][index % chunk_slots];
  }

  void grow() {
    const auto first = static_cast<std::uint32_t>(chunks_.size() * chunk_slots);
    chunks_.push_back(std::make_unique<epoll_descriptor[]>(chunk_slots));
    for (std::uint32_t i = chunk_slots; i > 0; --i) {
      epoll_descriptor& d = slot(first + i - 1);
      d.tag = first + i - 1;
      d.next_free = first_free_;
      first_free_ = first + i;
    }
  }

  std::vector<std::unique_ptr<epoll_descriptor[]>> chunks_;
  std::uint32_t first_free_ = 0;  // slot number + 1; 0 is none
  std::size_t used_ = 0;
};

}  // namespace weft
