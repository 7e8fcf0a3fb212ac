// Internal: an event that coroutines hear of, which lives until the last of them has ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/coro/frame_pool.hpp>
#include <weft/service/event_record.hpp>
#include <weft/service/event_ticket.hpp>

namespace weft {

struct event_telling {
  /// Moves the event out of its cell, into a block of the shard's frame pool. Throws std::bad_alloc
  /// and has moved nothing then.
  [[nodiscard]] static event_telling* take_over(event_record& record, void* in_cell,
                                                event_ticket* ticket) {
    const event_type::traits& how = record.type.how();
    void* const memory = frame_pool::allocate(bytes_of(how));
    auto* const made = ::new (memory) event_telling{.record = record, .ticket = ticket};
    how.relocate(in_cell, made->in_cell());
    return made;
  }
  void end() noexcept {
    const event_type::traits& how = record.type.how();
    how.destroy(in_cell());
    frame_pool::deallocate(this, bytes_of(how));
  }

  [[nodiscard]] void* in_cell() noexcept { return this + 1; }
  [[nodiscard]] const void* event() noexcept { return record.type.event_at(in_cell()); }

  event_record& record;
  event_ticket* ticket;
  std::uint32_t parts = 1;  // coroutines that run, and the telling itself
  std::uint32_t handled = 0;

 private:
  [[nodiscard]] static std::size_t bytes_of(const event_type::traits& how) noexcept {
    return sizeof(event_telling) + how.cell_bytes;
  }
};

}  // namespace weft
