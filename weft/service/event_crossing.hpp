// Events on their way to other shards, and those that have come from there.
//
// Problem: what is published on one shard is wanted on another, and neither may be swamped: who
// publishes must hear that the other does not keep up. Contract: an event crosses in an envelope,
// which is its sender's memory: there it is moved into the queue of that shard's bus (the first
// that was made on its loop), and the envelope goes back. Until it is back it counts as under way,
// which has the bounds of the sender's queue. Where the queue over there is at its bound, envelopes
// stand in line until there is room, so nothing that was taken is lost but to a bus that stops, or
// was never made. A bus that is a service is kept while some are under way. Events of one sender
// for one receiver in one band are told in the order in which they were published; so are those of
// different senders in the order in which they arrive. All of one bus's envelopes are back before
// it ends. Allocates nothing once the frame pool is warm.
//
//   events.publish(order_filled{.id = 7}, to_shard{2});
//   events.publish(prices_changed{}, to_all_shards, priority::high);
#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/service/event_type.hpp>
#include <weft/service/lifetime.hpp>

namespace weft {

class event_bus;
class event_loop;

/// The shard of this loop's mesh that is to be told.
struct to_shard {
  unsigned number = 0;
};
/// All shards of this loop's mesh, the own one too.
struct to_all_shards_t {};
inline constexpr to_all_shards_t to_all_shards{};

/// Whether a T may be used by another shard than the one that made it. False for classes that name
/// `stays_on_its_shard`, since they belong to their shard's loop, and for pointers.
template <class T>
inline constexpr bool may_cross =
    !std::is_pointer_v<T> && !requires { typename T::stays_on_its_shard; };

/// Fails to compile, and says what to change, where E must stay on its shard.
template <class E>
consteval void expect_to_cross() {
  static_assert(may_cross<E>,
                "this event stays on its shard, as its `stays_on_its_shard` says: publish one that "
                "holds values alone, such as the number by which the other shard finds its own");
}
template <class E>
consteval void expect_to_cross_to_all() {
  expect_to_cross<E>();
  static_assert(std::is_copy_constructible_v<E>,
                "an event for all shards is copied to each: give it a copy constructor, or publish "
                "one to each shard, `events.publish(std::move(event), to_shard{number})`");
}

/// Internal.
class event_envelope {
 public:
  /// nullptr: no memory. The event is in its cell's form: the receiver moves it out.
  template <class E, class T>
  [[nodiscard]] static event_envelope* seal(event_bus& from, priority band, T&& event) {
    if constexpr (!std::is_nothrow_constructible_v<E, T>) {
      return seal<E>(from, band, E(std::forward<T>(event)));
    } else {
      event_envelope* const made = make(from, event_type_of<E>, band);
      if (made == nullptr) return nullptr;
      if constexpr (detail::event_is_boxed<E>) {
        E* const boxed = new (std::nothrow) E(std::forward<T>(event));
        if (boxed == nullptr) {
          made->free();
          return nullptr;
        }
        ::new (made->in_cell()) void* {boxed};
      } else {
        ::new (made->in_cell()) E(std::forward<T>(event));
      }
      return made;
    }
  }
  /// With the event in it, which never left.
  void tear() noexcept;

 private:
  friend class event_crossings;

  struct part : message {
    part(arrival f, event_envelope& in) noexcept : message{f}, of{in} {}
    event_envelope& of;
  };

  event_envelope(event_bus& home, unsigned home_shard, event_type& what, priority in) noexcept
      : type_{what}, sender_{home}, sender_shard_{home_shard}, band_{in} {}
  [[nodiscard]] static event_envelope* make(event_bus& from, event_type& type, priority band);
  void free() noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(event_envelope) + type_.how().cell_bytes;
  }
  [[nodiscard]] void* in_cell() noexcept { return this + 1; }

  static void on_arrival(message& item, mesh_port* there) noexcept;
  static void on_return(message& item, mesh_port* home) noexcept;

  part outward_{&on_arrival, *this};
  part back_{&on_return, *this};
  event_type& type_;
  event_bus& sender_;
  mesh_port* there_ = nullptr;  // while it stands in line
  list_hook place_;             // there in line, or here before it is sent
  unsigned sender_shard_;
  priority band_;
};

/// One bus's part in this. Internal.
class event_crossings {
 public:
  event_crossings(event_bus& bus, event_loop& loop);
  event_crossings(const event_crossings&) = delete;
  event_crossings& operator=(const event_crossings&) = delete;
  ~event_crossings();

  using line = intrusive_list<event_envelope, &event_envelope::place_>;
  /// Sealed and not sent: torn at the end.
  struct batch {
    batch() noexcept = default;
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;
    ~batch() {
      while (event_envelope* const one = sealed.pop_front()) one->tear();
    }
    line sealed;
  };

  /// The bus that is told what comes to `loop`; nullptr: none.
  [[nodiscard]] static event_crossings* of(const event_loop& loop) noexcept;

  /// To a shard that is connected.
  void send(unsigned shard, event_envelope& sealed) noexcept;
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
  /// Whether some have come for which there is no room.
  [[nodiscard]] bool has_line() const noexcept { return !line_.empty(); }
  /// As many as there is room for.
  void serve_line() noexcept;
  /// Those in line are dropped, and so is what comes.
  void close() noexcept;
  /// Awaitable: all are back.
  [[nodiscard]] event& all_back() noexcept { return all_back_; }

 private:
  friend class event_envelope;
  void arrive(event_envelope& came, mesh_port& there) noexcept;
  [[nodiscard]] bool deliver(event_envelope& came) noexcept;
  static void drop(event_envelope& came, mesh_port& there) noexcept;
  void came_back(event_envelope& home) noexcept;

  event_bus& bus_;
  event_loop& loop_;
  lifetime* own_;                      // of the service that the bus is; nullptr: of none
  std::optional<lifetime::use> kept_;  // while some are under way
  event_crossings* next_ = nullptr;    // of this thread's
  std::size_t under_way_ = 0;
  line line_;
  event all_back_;
};

}  // namespace weft
