// Internal: what the event bus knows of a type of events: its number, and how its values move and
// end.
//
// Problem: publishing must neither hash nor look up a name, and two types of one name in different
// files must not be taken for one. Contract: each type has one event_type of its own, which the
// linker, not a name, tells apart; it gets a small number when first used, dense in the process.
// An event of up to inline_bytes_max lives in a queue's cell; a larger or over-aligned one lives on
// the heap, and its cell has the pointer. An empty event takes no room but its cell's header.
// Any thread.
//
//   event_type& type = event_type_of<order_filled>;
//   type.number()    // 0, 1, 2 ...
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/service/type_name.hpp>

namespace weft {

/// A cell's header: eight bytes before each event in a queue.
inline constexpr std::size_t event_header_bytes = 8;
/// And the pointer behind it, if somebody waits for the event's handlers.
inline constexpr std::size_t event_ticket_bytes = 8;

class event_type {
 public:
  static constexpr std::size_t inline_bytes_max = 1024;
  /// Of a type that has not been used yet: larger than any number.
  static constexpr std::uint32_t unnumbered = UINT32_MAX;

  struct traits {
    std::string_view name;
    std::uint32_t cell_bytes;                         // of a cell with its header
    bool boxed;                                       // the cell has a pointer to the event
    bool trivial;                                     // nothing is to be done at its end
    void (*relocate)(void* from, void* to) noexcept;  // of what lies in a cell
    void (*destroy)(void* in_cell) noexcept;
  };

  explicit constexpr event_type(const traits& what) noexcept : traits_{what} {}
  event_type(const event_type&) = delete;
  event_type& operator=(const event_type&) = delete;

  /// unnumbered, until enlist() has been called.
  [[nodiscard]] std::uint32_t number() const noexcept {
    return number_.load(std::memory_order_acquire);
  }
  /// Gives it a number, if it has none. Throws std::bad_alloc.
  std::uint32_t enlist();

  /// Types that have a number.
  [[nodiscard]] static std::uint32_t count() noexcept;
  [[nodiscard]] static event_type& at(std::uint32_t number) noexcept;

  [[nodiscard]] const traits& how() const noexcept { return traits_; }
  /// 1 if something is to be done at the end of an event, else 0.
  [[nodiscard]] unsigned has_end() const noexcept { return traits_.trivial ? 0 : 1; }
  /// The event in a cell, given where its payload begins.
  [[nodiscard]] void* event_at(void* in_cell) const noexcept {
    return traits_.boxed ? *static_cast<void**>(in_cell) : in_cell;
  }

 private:
  traits traits_;
  std::atomic<std::uint32_t> number_{unnumbered};
};

namespace detail {

template <class E>
inline constexpr bool event_is_boxed = sizeof(E) > event_type::inline_bytes_max ||
                                       alignof(E) > event_header_bytes;

/// Nothing of it needs to be kept: a handler that copies it copies no byte.
template <class E>
inline constexpr bool event_is_bare = std::is_empty_v<E> && std::is_trivially_copyable_v<E>;

template <class E>
consteval std::uint32_t event_cell_bytes() {
  constexpr std::size_t payload = event_is_bare<E>    ? 0
                                  : event_is_boxed<E> ? sizeof(void*)
                                                      : sizeof(E);
  return event_header_bytes + (payload + 7) / 8 * 8;
}

template <class E>
constexpr event_type::traits event_traits() noexcept {
  event_type::traits made{.name = type_name<E>,
                          .cell_bytes = event_cell_bytes<E>(),
                          .boxed = event_is_boxed<E>,
                          .trivial = std::is_trivially_destructible_v<E> && !event_is_boxed<E>,
                          .relocate = nullptr,
                          .destroy = nullptr};
  if constexpr (event_is_boxed<E>) {
    made.relocate = [](void* from, void* to) noexcept {
      ::new (to) void* {*static_cast<void**>(from)};
    };
    made.destroy = [](void* in_cell) noexcept {
      delete static_cast<E*>(*static_cast<void**>(in_cell));
    };
  } else {
    made.relocate = [](void* from, void* to) noexcept {
      E& old = *std::launder(static_cast<E*>(from));
      ::new (to) E(std::move(old));
      std::destroy_at(&old);
    };
    made.destroy = [](void* in_cell) noexcept {
      std::destroy_at(std::launder(static_cast<E*>(in_cell)));
    };
  }
  return made;
}

}  // namespace detail

/// One for each type: those of types without linkage, in an unnamed namespace or in a function, are
/// their file's own.
template <class E>
inline constinit event_type event_type_of{detail::event_traits<E>()};

/// Fails to compile, and says what to change, where E cannot be an event.
template <class E>
consteval void expect_event() {
  static_assert(std::is_class_v<E> || std::is_union_v<E>,
                "an event is a struct of its own, whose type says what has happened: "
                "wrap the value, as in `struct price_changed { double price; };`");
  static_assert(std::is_nothrow_move_constructible_v<E>,
                "an event moves through queues, where nobody could catch what that throws: give it "
                "a noexcept move constructor, or hold what has none by std::unique_ptr");
  static_assert(std::is_nothrow_destructible_v<E>, "an event's destructor must not throw");
}

}  // namespace weft
