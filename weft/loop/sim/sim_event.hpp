// What is to happen in a simulated world, in the order of time.
//
// Contract: events of one moment come in an order that the world's seed decides; no two are equal,
// so the order is the same on every platform. An event names a socket by slot and generation, never
// by address, so that it finds nobody when the socket has gone. One thread.
//
//   queue.push({.when = now + latency, .tie = dice.next(), .what = sim_event::kind::arrival});
//   while (!queue.empty() && queue.next() <= now) handle(queue.pop());
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <weft/base/time.hpp>

namespace weft {

/// A socket of the world, or none: it may have gone since.
struct sim_handle {
  std::uint32_t slot = ~std::uint32_t{0};
  std::uint32_t generation = 0;
  bool operator==(const sim_handle&) const = default;
};

struct sim_event {
  enum class kind : std::uint8_t {
    syn,           // a connection is asked for
    connected,     // ... and had, or refused with `value` as errno
    arrival,       // `value` bytes
    fin,           // the other side sends no more
    rst,           // the connection has broken, `value` says why
    attempt_read,  // the operation number `value` of that direction is tried again
    attempt_write,
    cancel_read,  // the operation number `value` is to end
    cancel_write,
    close,
    datagram,      // number `value` of those under way
    wake,          // of the backend number `value`: another shard has something for it
    strike,        // a fault of the world is due
    buffers_back,  // a shard's, by number
    restart,       // of the host number `value`
  };

  time_point when{};
  std::uint64_t tie = 0;
  std::uint64_t number = 0;  // in the order in which they were made
  sim_handle socket{};
  std::uint64_t value = 0;
  kind what = kind::strike;
};

class sim_event_queue {
 public:
  void push(sim_event event) {
    event.number = ++made_;
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] sim_event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const sim_event event = heap_.back();
    heap_.pop_back();
    return event;
  }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] time_point next() const noexcept {
    return heap_.empty() ? time_point::max() : heap_.front().when;
  }

 private:
  static bool later(const sim_event& left, const sim_event& right) noexcept {
    return std::tie(left.when, left.tie, left.number) >
           std::tie(right.when, right.tie, right.number);
  }
  std::vector<sim_event> heap_;
  std::uint64_t made_ = 0;
};

}  // namespace weft
