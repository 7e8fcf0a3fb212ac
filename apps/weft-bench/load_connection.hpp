// Internal: one connection of a load, and what it is owed.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "load.hpp"
#include "response_framer.hpp"
#include "tls_link.hpp"

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

enum class link : std::uint8_t { down, connecting, securing, up };

struct connection {
  connection(known_head& known, std::size_t pipelined) : owed{pipelined}, framer{known} {}

  [[nodiscard]] bool has_unsent() const {
    return whole_sent < owed.size() || (tls != nullptr && !tls->output().empty());
  }
  // What to send next, in so many pieces at most; gives how many there are.
  std::size_t unsent(std::span<iovec> pieces) const;
  void advance(std::size_t sent_bytes);

  int fd = -1;
  link state = link::down;
  bool is_idle = false;     // stands in the loop's list of those that may send
  std::uint64_t since = 0;  // the connect's start
  owed_replies owed;
  std::size_t whole_sent = 0;  // of those owed; with TLS: encrypted
  std::size_t sent = 0;        // bytes of the next
  std::size_t echoed = 0;      // bytes of the oldest that came back
  response_framer framer;
  std::unique_ptr<tls_link> tls;
};

}  // namespace weft::bench
