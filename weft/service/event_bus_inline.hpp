// Internal: the templates of event_bus.hpp, which includes this.
#pragma once

#include <weft/service/event_bus.hpp>

namespace weft {

namespace detail {

template <class E>
class [[nodiscard]] event_room_wait final : public event_room_waiter {
 public:
  event_room_wait(event_bus& bus, E event, priority band, event_ticket* ticket = nullptr)
      : bus_{bus},
        record_{bus.record_of<E>()},
        event_{std::move(event)},
        band_{band},
        ticket_{ticket} {}
  [[nodiscard]] result<void> await_resume() const noexcept { return outcome(); }

  result<void> deliver() noexcept override {
    if (bus_.closed_) return fail(bus_.refuse(record_));
    if (!bus_.put<E>(record_, band_, std::move(event_), ticket_)) return fail(errc::exhausted);
    return {};
  }

 private:
  friend waiter;
  wait_line& line() noexcept { return bus_.room_; }
  bool take() noexcept {
    if (!bus_.closed_ && !bus_.has_room()) return false;
    answer(deliver());
    return true;
  }

  event_bus& bus_;
  event_record& record_;
  E event_;
  priority band_;
  event_ticket* ticket_;
};

/// For room on the way to another shard, or, of the own one, as above.
template <class E>
class [[nodiscard]] event_crossing_wait final : public event_room_waiter {
 public:
  event_crossing_wait(event_bus& bus, E event, unsigned shard, priority band)
      : bus_{bus}, event_{std::move(event)}, shard_{shard}, band_{band} {}
  [[nodiscard]] result<void> await_resume() const noexcept { return outcome(); }

  result<void> deliver() noexcept override {
    try {
      return bus_.publish(std::move(event_), to_shard{shard_}, band_);
    } catch (...) {
      return fail(errc::exhausted);
    }
  }

 private:
  friend waiter;
  wait_line& line() noexcept {
    return bus_.is_elsewhere(shard_) ? bus_.crossing_room_ : bus_.room_;
  }
  bool take() noexcept {
    const bool there_is = bus_.is_elsewhere(shard_) ? bus_.has_room_to_others() : bus_.has_room();
    if (!bus_.closed_ && !there_is) return false;
    answer(deliver());
    return true;
  }

  event_bus& bus_;
  E event_;
  unsigned shard_;
  priority band_;
};

}  // namespace detail

template <class E, class T>
void event_bus::write_cell(std::byte* cell, event_record& record, event_ticket* ticket,
                           [[maybe_unused]] T&& event, [[maybe_unused]] E* boxed) noexcept {
  const std::uintptr_t flag = ticket != nullptr ? with_ticket : 0;
  ::new (cell) std::uintptr_t{reinterpret_cast<std::uintptr_t>(&record) | flag};
  cell += event_header_bytes;
  if (ticket != nullptr) {
    ::new (cell) event_ticket* {ticket};
    cell += event_ticket_bytes;
  }
  if constexpr (detail::event_is_boxed<E>)
    ::new (cell) void* {boxed};
  else if constexpr (!detail::event_is_bare<E>)
    ::new (cell) E(std::forward<T>(event));
}

template <class E, class T>
bool event_bus::put(event_record& record, priority band, T&& event, event_ticket* ticket) {
  // A copy that may throw is made before the cell is.
  if constexpr (!std::is_nothrow_constructible_v<E, T>) {
    return put<E>(record, band, E(std::forward<T>(event)), ticket);
  } else {
    E* boxed = nullptr;
    if constexpr (detail::event_is_boxed<E>) {
      boxed = new (std::nothrow) E(std::forward<T>(event));
      if (boxed == nullptr) return false;
    }
    event_ring& ring = rings_[static_cast<unsigned>(band)];
    const std::size_t bytes =
        detail::event_cell_bytes<E>() + (ticket != nullptr ? event_ticket_bytes : 0);
    std::byte* const cell = ring.claim(bytes);
    if (cell == nullptr) [[unlikely]] {
      if constexpr (detail::event_is_boxed<E>) delete boxed;
      return false;
    }
    write_cell<E>(cell, record, ticket, std::forward<T>(event), boxed);
    ring.commit(bytes);
    taken(record, lane_of(band));
    return true;
  }
}

template <class E, class T>
bool event_bus::put_due(event_record& record, deadline by, T&& event) {
  if constexpr (!std::is_nothrow_constructible_v<E, T>) {
    return put_due<E>(record, by, E(std::forward<T>(event)));
  } else {
    E* boxed = nullptr;
    if constexpr (detail::event_is_boxed<E>) {
      boxed = new (std::nothrow) E(std::forward<T>(event));
      if (boxed == nullptr) return false;
    }
    constexpr std::size_t bytes = detail::event_cell_bytes<E>();
    std::byte* const cell = dues_.claim(bytes);
    if (cell == nullptr) [[unlikely]] {
      if constexpr (detail::event_is_boxed<E>) delete boxed;
      return false;
    }
    write_cell<E>(cell, record, nullptr, std::forward<T>(event), boxed);
    dues_.commit(by.when(), cell, bytes);
    taken(record, due);
    return true;
  }
}

template <class T>
result<void> event_bus::publish(T&& event, priority band) {
  using kind = std::remove_cvref_t<T>;
  expect_event<kind>();
  event_record& record = record_of<kind>();
  if (queued_ >= bound_) [[unlikely]]
    return fail(refuse(record));
  if (!put<kind>(record, band, std::forward<T>(event))) [[unlikely]]
    return fail(errc::exhausted);
  return {};
}

template <class T>
result<void> event_bus::publish(T&& event, deadline by) {
  using kind = std::remove_cvref_t<T>;
  expect_event<kind>();
  event_record& record = record_of<kind>();
  if (queued_ >= bound_) return fail(refuse(record));
  if (!put_due<kind>(record, by, std::forward<T>(event))) return fail(errc::exhausted);
  return {};
}

template <class T>
result<void> event_bus::publish(T&& event, to_shard where, priority band) {
  using kind = std::remove_cvref_t<T>;
  expect_event<kind>();
  expect_to_cross<kind>();
  if (!is_elsewhere(where.number)) return publish(std::forward<T>(event), band);
  event_record& record = record_of<kind>();
  if (const auto connected = connect(where.number, record); !connected) return connected;
  event_envelope* const sealed = event_envelope::seal<kind>(*this, band, std::forward<T>(event));
  if (sealed == nullptr) return fail(errc::exhausted);
  crossings_.send(where.number, *sealed);
  return {};
}

template <class T>
result<void> event_bus::publish(const T& event, to_all_shards_t, priority band) {
  expect_event<T>();
  expect_to_cross_to_all<T>();
  event_record& record = record_of<T>();
  const std::size_t others = connect_others();
  if (queued_ >= bound_ || crossings_.under_way() + others > bound_) return fail(refuse(record));
  event_crossings::batch copies;
  for (std::size_t i = 0; i < others; ++i) {
    event_envelope* const one = event_envelope::seal<T>(*this, band, event);
    if (one == nullptr) return fail(errc::exhausted);
    copies.sealed.push_back(*one);
  }
  if (!put<T>(record, band, event)) return fail(errc::exhausted);
  send_all(copies);
  return {};
}

template <class E>
detail::event_crossing_wait<E> event_bus::publish_when_room(E event, to_shard where,
                                                            priority band) {
  expect_event<E>();
  expect_to_cross<E>();
  return detail::event_crossing_wait<E>{*this, std::move(event), where.number, band};
}

template <class E>
detail::event_room_wait<E> event_bus::publish_when_room(E event, priority band) {
  expect_event<E>();
  return detail::event_room_wait<E>{*this, std::move(event), band};
}

template <class E>
task<result<unsigned>> event_bus::publish_and_wait(E event, priority band) {
  expect_event<E>();
  const event_ticket_holder ticket;
  const result<void> published =
      co_await detail::event_room_wait<E>{*this, std::move(event), band, ticket.get()};
  if (!published) {
    ticket->release();  // no event has the other part
    co_return fail(published.error());
  }
  const result<void> told = co_await ticket->wait();
  if (!told) co_return fail(told.error());
  co_return ticket->answer();
}

template <class E, class F>
event_registration event_bus::on(F f, lifetime* owner) {
  expect_event<E>();
  static_assert(std::is_invocable_v<F&, const E&>,
                "a handler takes its event as `const E&` (or by value): "
                "`events.on<order_filled>([](const order_filled& filled) { ... })`");
  using returned = std::invoke_result_t<F&, const E&>;
  static_assert(std::is_void_v<returned> || std::is_same_v<returned, result<void>> ||
                    detail::is_handler_task<returned>,
                "a handler gives void, weft::result<void>, weft::task<void> or "
                "weft::task<weft::result<void>>");
  event_record& record = record_of<E>();
  if constexpr (detail::is_handler_task<returned>)
    return record.handlers.add(std::make_unique<detail::event_coroutine<E, F>>(
                                   std::move(f), coroutines_.inherited(), owner),
                               owner);
  else
    return record.handlers.add(std::make_unique<detail::event_function<E, F>>(std::move(f)), owner);
}

template <class E, class F>
event_registration event_bus::before(F f, lifetime* owner) {
  expect_event<E>();
  auto gate = [f = std::move(f)](const event_view& seen) mutable { return f(*seen.as<E>()); };
  return record_of<E>().before.add(
      std::make_unique<detail::event_gate<decltype(gate)>>(std::move(gate)), owner);
}

template <class E, class F>
event_registration event_bus::after(F f, lifetime* owner) {
  expect_event<E>();
  auto witness = [f = std::move(f)](const event_view& seen, unsigned handled) mutable {
    f(*seen.as<E>(), handled);
  };
  return record_of<E>().after.add(
      std::make_unique<detail::event_witness<decltype(witness)>>(std::move(witness)), owner);
}

template <class F>
event_registration event_bus::before_each(F f, lifetime* owner) {
  return before_each_.add(std::make_unique<detail::event_gate<F>>(std::move(f)), owner);
}

template <class F>
event_registration event_bus::after_each(F f, lifetime* owner) {
  return after_each_.add(std::make_unique<detail::event_witness<F>>(std::move(f)), owner);
}

}  // namespace weft
