// The bounds of an event bus.
//
// Contract: what to do when the queue is full is the publisher's choice, by the call it makes:
//   grow   publish(), below `bound`: memory is taken as it is needed, and given back
//   fail   publish(), at `bound`: errc::limit_exceeded; set it to `capacity` to fail there
//   wait   co_await publish_when_room(), at `capacity`
//
//   event_bus events{{.capacity = 1024, .bound = 1024}, loop};
#pragma once

#include <cstddef>

namespace weft {

struct event_options {
  /// Events in the queue at which publish_when_room() waits.
  std::size_t capacity = 65'536;
  /// Events in the queue at which publish() fails. At least `capacity`.
  std::size_t bound = 1'048'576;
  /// Events told in one turn of the loop before it asks the kernel again.
  unsigned events_per_turn = 1024;
  /// Coroutines of handlers that may run at a time; while so many do, nothing more is told.
  unsigned coroutines_max = 16'384;
};

}  // namespace weft
