// Internal: how one who waits for an event's handlers hears of their end.
//
// Contract: shared by who waits and by the event, and freed by the later of both, from the shard's
// frame pool.
#pragma once

#include <cstddef>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/frame_pool.hpp>

namespace weft {

class event_ticket {
 public:
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* ticket, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(ticket, size_bytes);
  }

  /// All handlers have ended, or never will hear of it. The event's part ends with this.
  void answer(result<unsigned> handled) noexcept {
    answer_ = handled;
    answered_.set();
    release();
  }
  void release() noexcept {
    if (--owners_ == 0) delete this;
  }

  [[nodiscard]] auto wait() noexcept { return answered_.wait(); }
  [[nodiscard]] result<unsigned> answer() const noexcept { return answer_; }

 private:
  event answered_;
  result<unsigned> answer_;
  unsigned owners_ = 2;
};

/// The part of one who waits.
class event_ticket_holder {
 public:
  event_ticket_holder() : ticket_{new event_ticket} {}
  event_ticket_holder(const event_ticket_holder&) = delete;
  event_ticket_holder& operator=(const event_ticket_holder&) = delete;
  ~event_ticket_holder() { ticket_->release(); }

  [[nodiscard]] event_ticket* operator->() const noexcept { return ticket_; }
  [[nodiscard]] event_ticket* get() const noexcept { return ticket_; }

 private:
  event_ticket* ticket_;
};

}  // namespace weft
