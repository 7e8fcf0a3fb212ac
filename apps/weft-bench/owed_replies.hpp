// Internal: what a connection of a load is owed by its peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "load.hpp"

namespace weft::bench {

// A request whose reply has not come, and that may not be sent yet. Times as steady_ns() gives
// them.
struct owed_reply {
  const load_request* to = nullptr;
  std::uint64_t due = 0;    // when the request should have started
  std::uint64_t since = 0;  // when it did
};

// As many as are pipelined, the oldest first.
class owed_replies {
 public:
  explicit owed_replies(std::size_t most)
      : all_{std::make_unique<owed_reply[]>(most)}, capacity_{most} {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool full() const { return size_ == capacity_; }
  [[nodiscard]] const owed_reply& operator[](std::size_t i) const {
    const std::size_t at = first_ + i;
    return all_[at < capacity_ ? at : at - capacity_];
  }
  [[nodiscard]] const owed_reply& front() const { return all_[first_]; }
  void push(const owed_reply& reply) {
    const std::size_t at = first_ + size_++;
    all_[at < capacity_ ? at : at - capacity_] = reply;
  }
  void pop() {
    if (++first_ == capacity_) first_ = 0;
    --size_;
  }
  void clear() { size_ = 0; }

 private:
  std::unique_ptr<owed_reply[]> all_;
  std::size_t capacity_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace weft::bench
