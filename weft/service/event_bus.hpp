// Events of one shard: whoever has something to tell publishes a plain struct, and whoever wants to
// hear of it says so.
//
// Problem: services should not have to know each other to hear of each other, and telling must cost
// next to nothing. Contract: any struct that moves without throwing is an event. publish() puts it
// into this shard's queue and never calls a handler itself; handlers are called from the loop's
// turn, for at most events_per_turn events each, so that input and output have their share. The
// most urgent band goes first, and within a band what came first; events with a deadline stand
// between `critical` and `high`, the earliest first. All handlers of an event hear of it, in the
// order of their registration (event_listener.hpp), before the next is told. An idle bus costs a
// turn nothing. The same call tells the other shards (event_crossing.hpp).
//
// A handler is a function, which allocates nothing, or gives a task<void> or task<result<void>>,
// which begins there and then, and from its first wait on runs by itself: its event lives until it
// ends, and the next event does not wait for it. What leaves a handler, exception or error, is
// logged and counted; the others are told all the same. Bounds and what to do at them:
// event_options.hpp. One shard; ends before its loop.
//
//   explicit journal(event_bus& events) {  // a service: it hears of orders until it ends
//     events.on<order_filled>([this](const order_filled& o) { write(o); });
//   }
//   events.publish(order_filled{.id = 7});
//   events.publish(order_filled{.id = 8}, priority::high);
//   events.publish(order_filled{.id = 8}, to_shard{2});
//   auto handled = co_await events.publish_and_wait(order_filled{.id = 9});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/coro/deadline.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/service/event_crossing.hpp>
#include <weft/service/event_heap.hpp>
#include <weft/service/event_listener.hpp>
#include <weft/service/event_options.hpp>
#include <weft/service/event_record.hpp>
#include <weft/service/event_ring.hpp>
#include <weft/service/event_ticket.hpp>

namespace weft {

class event_bus;
class event_loop;
struct event_telling;

namespace detail {

template <class E>
class event_room_wait;
template <class E>
class event_crossing_wait;

/// Waits for room in the queue; internal.
class event_room_waiter : public waiter {
 public:
  virtual ~event_room_waiter() = default;
  /// Puts its event into the queue, where there is room now.
  [[nodiscard]] virtual result<void> deliver() noexcept = 0;
};

}  // namespace detail

class event_bus {
 public:
  using options = event_options;

  event_bus(event_options bounds, event_loop& loop);
  event_bus(const event_bus&) = delete;
  event_bus& operator=(const event_bus&) = delete;
  /// Insists that no handler's coroutine runs; drops what is in the queue.
  ~event_bus();

  /// Never waits. errc::limit_exceeded: the queue is at its bound; errc::closed: the bus has been
  /// stopped; errc::exhausted: no memory. Allocates only where a deep queue grows, or for an event
  /// of more than event_type::inline_bytes_max.
  template <class T>
  result<void> publish(T&& event, priority band = priority::normal);
  /// As publish(), of an event that is to be told by `due`: the earlier, the sooner.
  template <class T>
  result<void> publish(T&& event, deadline due);

  /// As publish(), of an event that is told by the bus of another shard of this loop's mesh, or of
  /// this one. errc::limit_exceeded: so many are under way to other shards as the queue may hold;
  /// errc::closed also: that shard has ended. May throw std::bad_alloc. See event_crossing.hpp.
  template <class T>
  result<void> publish(T&& event, to_shard where, priority band = priority::normal);
  /// A copy to each shard that has not ended; to all of them, or, when that fails, to none.
  template <class T>
  result<void> publish(const T& event, to_all_shards_t where, priority band = priority::normal);

  /// Awaitable, gives result<void>: as publish(), but waits for room at `capacity`, first come,
  /// first served; errc::cancelled or errc::timed_out as the environment says: not published then.
  template <class E>
  [[nodiscard]] detail::event_room_wait<E> publish_when_room(E event,
                                                             priority band = priority::normal);
  /// As publish() to that shard, but waits while so many as `capacity` are under way.
  template <class E>
  [[nodiscard]] detail::event_crossing_wait<E> publish_when_room(E event, to_shard where,
                                                                 priority band = priority::normal);
  /// Waits for room, publishes, and waits until all handlers, coroutines too, have ended. Gives how
  /// many ended well; 0 for an event that was vetoed. A stop request and the deadline end the wait,
  /// not what has been published.
  template <class E>
  [[nodiscard]] task<result<unsigned>> publish_and_wait(E event, priority band = priority::normal);

  /// Calls `f` with each event of type E: `void`, `result<void>`, `task<void>` or
  /// `task<result<void>> f(const E&)`. Until `owner` ends: in a service's constructor, and in its
  /// start() up to the first wait, that is the service, and what is returned need not be kept. With
  /// nullptr, as anywhere else, for as long as the registration that is returned lives.
  template <class E, class F>
  event_registration on(F f, lifetime* owner = lifetime::current());

  /// Calls `f(const E&)` before the handlers of each E; if it gives false, they do not hear of it.
  template <class E, class F>
  event_registration before(F f, lifetime* owner = lifetime::current());
  /// Calls `f(const E&, unsigned handled)` when all handlers of an E, coroutines too, have ended.
  template <class E, class F>
  event_registration after(F f, lifetime* owner = lifetime::current());
  /// As before() and after(), for events of all types: `bool f(const event_view&)`, and
  /// `void f(const event_view&, unsigned handled)`.
  template <class F>
  event_registration before_each(F f, lifetime* owner = lifetime::current());
  template <class F>
  event_registration after_each(F f, lifetime* owner = lifetime::current());

  /// Takes no more events, tells those that are in the queue, and waits for the handlers'
  /// coroutines, which are asked to stop. When the deadline passes, or the caller is asked to stop,
  /// before the queue is empty, the rest is dropped.
  [[nodiscard]] task<result<void>> stop();

  /// Events in the queue now.
  [[nodiscard]] std::size_t queued() const noexcept { return queued_; }
  /// Events on their way to other shards now.
  [[nodiscard]] std::size_t under_way() const noexcept { return crossings_.under_way(); }
  /// Handlers' coroutines that run now.
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  /// Memory of the queue's bands, the most there has been.
  [[nodiscard]] std::size_t queue_bytes_max() const noexcept { return chunks_.held_bytes_max(); }
  /// Of each type that has been published or listened to here.
  [[nodiscard]] std::vector<event_statistics> statistics() const;
  template <class E>
  [[nodiscard]] event_statistics statistics_of() {
    return record_of<E>().statistics();
  }

 private:
  template <class E>
  friend class detail::event_room_wait;
  template <class E>
  friend class detail::event_crossing_wait;
  friend class event_crossings;
  friend class event_part;
  friend class event_envelope;

  /// The order in which events are told; the loop runs each lane as work of its own.
  enum : unsigned { critical, due, high, normal, low, idle };
  static constexpr unsigned lane_count = 6;
  static constexpr std::uintptr_t with_ticket = 1;  // in a cell's header

  [[nodiscard]] static constexpr unsigned lane_of(priority band) noexcept {
    const auto index = static_cast<unsigned>(band);
    return index + (index >= due ? 1 : 0);
  }
  [[nodiscard]] static constexpr unsigned ring_of(unsigned of_lane) noexcept {
    return of_lane - (of_lane > due ? 1 : 0);
  }

  struct runners;
  struct runner;
  struct rest;

  template <class E>
  [[nodiscard]] event_record& record_of() {
    const std::uint32_t number = event_type_of<E>.number();
    if (number >= records_known_) [[unlikely]]
      return add_records(event_type_of<E>);
    return *records_[number];
  }
  [[nodiscard]] event_record& record_of(event_type& type) {
    const std::uint32_t number = type.number();
    return number < records_known_ ? *records_[number] : add_records(type);
  }
  template <class E, class T>
  static void write_cell(std::byte* cell, event_record& record, event_ticket* ticket, T&& event,
                         E* boxed) noexcept;
  template <class E, class T>
  [[nodiscard]] bool put(event_record& record, priority band, T&& event,
                         event_ticket* ticket = nullptr);
  template <class E, class T>
  [[nodiscard]] bool put_due(event_record& record, deadline by, T&& event);
  /// What has come from another shard, in its cell's form. False: no memory.
  [[nodiscard]] bool put_arrived(event_record& record, priority band, void* in_cell) noexcept;
  [[nodiscard]] bool is_elsewhere(unsigned shard) const noexcept;
  [[nodiscard]] result<void> connect(unsigned shard, event_record& record);
  /// How many there are, which are connected then.
  [[nodiscard]] std::size_t connect_others();
  void send_all(event_crossings::batch& copies) noexcept;
  void taken(event_record& record, unsigned into) noexcept {
    ++record.published;
    ++queued_;
    if ((occupied_ & (1U << into)) == 0) wake(into);
  }

  [[nodiscard]] event_record& add_records(event_type& wanted);
  [[nodiscard]] error refuse(event_record& record) noexcept;
  void wake(unsigned sleeping) noexcept;
  void run(unsigned lane) noexcept;
  void run_band(unsigned lane, event_ring& ring) noexcept;
  void pass_unheard(event_ring& ring) noexcept;
  void tell_next(event_ring& ring) noexcept;
  void run_due() noexcept;
  [[nodiscard]] bool stands_back(unsigned lane) noexcept;
  [[nodiscard]] bool gives_way(unsigned lane) const noexcept;
  void go_on(unsigned lane) noexcept;
  void end_rest() noexcept;
  void end_pause() noexcept;
  /// For who comes now: not before those who wait for it.
  [[nodiscard]] bool has_room() const noexcept {
    return queued_ < options_.capacity && room_.empty();
  }
  [[nodiscard]] bool has_room_to_others() const noexcept {
    return crossings_.under_way() < options_.capacity && crossing_room_.empty();
  }
  void serve_room() noexcept;
  void serve_crossing_room() noexcept;
  [[nodiscard]] bool somebody_waits_for_room() const noexcept {
    return !room_.empty() || crossings_.has_line();
  }
  void drop_queued() noexcept;
  std::size_t drop_cell(std::byte* cell) noexcept;
  [[nodiscard]] static priority band_of(unsigned lane) noexcept;

  [[nodiscard]] static event_record& record_in(std::uintptr_t header) noexcept {
    return *reinterpret_cast<event_record*>(header & ~with_ticket);
  }
  [[nodiscard]] static bool has_ticket(std::uintptr_t header) noexcept {
    return (header & with_ticket) != 0;
  }
  [[nodiscard]] static event_ticket& ticket_at(std::byte* behind_header) noexcept {
    return **std::launder(reinterpret_cast<event_ticket**>(behind_header));
  }
  void leaves(event_record& record) noexcept {
    record.leave_queue();
    --queued_;
  }

  // event_telling.cpp
  void tell(std::byte* cell) noexcept;
  [[nodiscard]] bool allows(event_record& record, const void* event) noexcept;
  void start(event_telling& telling, event_handler& handler);
  void handler_ended(event_handler& handler, event_telling& telling) noexcept;
  void part_ended(event_telling& telling) noexcept;
  void all_told(event_record& record, const void* event, unsigned handled,
                event_ticket* ticket) noexcept;

  event_loop& loop_;
  // What publish() looks at, together.
  event_record** records_ = nullptr;  // by the type's number
  std::uint32_t records_known_ = 0;
  unsigned occupied_ = 0;  // lanes that are not empty, which the loop will run
  std::size_t queued_ = 0;
  std::size_t bound_;
  event_chunk_pool chunks_;
  std::array<event_ring, priority_count> rings_;
  event_heap dues_;

  event_options options_;
  unsigned left_ = 0;  // events that may be told in the turn that began as turn_
  std::uint64_t turn_ = 0;
  unsigned resting_ = 0;     // lanes that go on in the next turn
  std::size_t running_ = 0;  // coroutines of handlers
  bool paused_ = false;      // until one of coroutines_max ends
  bool closed_ = false;
  bool serves_crossing_room_ = false;
  runners* runners_;
  std::unique_ptr<rest> rest_;
  wait_line room_;
  wait_line crossing_room_;
  event drained_;  // closed, and the queue is empty
  std::uint32_t listen_to_all_ = 0;
  event_listeners before_each_{listen_to_all_};
  event_listeners after_each_{listen_to_all_};
  std::vector<std::unique_ptr<event_record>> all_records_;
  std::vector<event_record*> record_table_;
  scope coroutines_;
  event_crossings crossings_{*this, loop_};
};

}  // namespace weft

#include <weft/service/event_bus_inline.hpp>
