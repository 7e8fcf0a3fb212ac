// Internal: what one bus knows of one type of events: who listens, and what has become of them.
//
// Contract: one a type and bus, made when either first meets the other; it stays where it is, at a
// multiple of 64, so that a cell's header can be its address with room for a flag. One shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/event_listener.hpp>
#include <weft/service/event_type.hpp>

namespace weft {

class event_bus;
struct event_telling;

/// An event as interceptors of all types see it; valid during the call.
class event_view {
 public:
  event_view(const event_type& type, const void* event) noexcept : type_{type}, event_{event} {}

  [[nodiscard]] std::string_view type() const noexcept { return type_.how().name; }
  /// nullptr: the event is none of these.
  template <class E>
  [[nodiscard]] const E* as() const noexcept {
    return &type_ == &event_type_of<E> ? static_cast<const E*>(event_) : nullptr;
  }

 private:
  const event_type& type_;
  const void* event_;
};

/// What has become of the events of one type on one shard.
struct event_statistics {
  std::string_view type;
  std::uint64_t published = 0;  // taken into the queue
  std::uint64_t told = 0;       // have left it for their handlers
  std::uint64_t unheard = 0;    // of those told: there was no handler
  std::uint64_t vetoed = 0;     // an interceptor kept them from their handlers
  std::uint64_t refused = 0;    // not taken: the queue was full or closed
  std::uint64_t dropped = 0;    // were still in the queue when the bus ended
  std::uint64_t late = 0;       // of those with a deadline: told after it
  std::uint64_t failures = 0;   // of handlers
  std::size_t depth = 0;        // in the queue now
  std::size_t depth_max = 0;
};

class event_handler;

/// One coroutine of a handler, from its making to its end, which is told once.
class event_part {
 public:
  event_part(event_bus& of, event_handler& part_of, event_telling& told) noexcept
      : bus_{of}, handler_{part_of}, telling_{told} {}
  [[nodiscard]] const void* event() const noexcept;
  void ended(result<void> outcome) noexcept;
  /// With the exception that is being handled.
  void threw() noexcept;

 private:
  event_bus& bus_;
  event_handler& handler_;
  event_telling& telling_;
};

class event_handler : public event_listener {
 public:
  using event_listener::event_listener;
  /// If it is a function.
  virtual result<void> hear(const void*) { return {}; }
  /// If it is a coroutine: what runs it, and tells `part` of its end.
  virtual task<void> start(event_part part) {
    part.ended({});
    co_return;
  }
};

class event_before : public event_listener {
 public:
  [[nodiscard]] virtual bool allows(const event_view& seen) = 0;
};

class event_after : public event_listener {
 public:
  virtual void told(const event_view& seen, unsigned handled) = 0;
};

struct alignas(64) event_record {
  explicit event_record(event_type& of) noexcept
      : type{of}, cell_bytes{of.how().cell_bytes}, duties{of.has_end()} {}

  event_type& type;
  std::uint32_t cell_bytes;
  /// Who listens, and one more if something is to be done at an event's end.
  std::uint32_t duties;
  std::uint64_t published = 0;
  std::uint64_t done = 0;  // have left the queue
  std::size_t depth_max = 0;
  std::uint64_t heard = 0;
  std::uint64_t vetoed = 0;
  std::uint64_t refused = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t failures = 0;
  event_listeners handlers{duties};
  event_listeners before{duties};
  event_listeners after{duties};

  /// So many leave it, and none has come meanwhile.
  void leave_queue(std::size_t count = 1) noexcept {
    const std::size_t depth = published - done;
    done += count;
    if (depth > depth_max) depth_max = depth;
  }
  [[nodiscard]] event_statistics statistics() const noexcept {
    const std::size_t depth = published - done;
    return {.type = type.how().name,
            .published = published,
            .told = done - dropped,
            .unheard = done - dropped - heard - vetoed,
            .vetoed = vetoed,
            .refused = refused,
            .dropped = dropped,
            .late = late,
            .failures = failures,
            .depth = depth,
            .depth_max = depth > depth_max ? depth : depth_max};
  }
};

namespace detail {

/// What a handler gives, as the one type the bus looks at.
template <class Call>
result<void> outcome_of(Call call) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return {};
  } else {
    return call();
  }
}

template <class E, class F>
class event_function final : public event_handler {
 public:
  explicit event_function(F f) : function_{std::move(f)} {}
  result<void> hear(const void* event) override {
    return outcome_of([&] { return function_(*static_cast<const E*>(event)); });
  }

 private:
  F function_;
};

template <class E, class F>
class event_coroutine final : public event_handler {
 public:
  event_coroutine(F f, const environment& parent, lifetime* owner)
      : event_handler{&coroutines_}, coroutines_{parent, owner}, function_{std::move(f)} {}
  task<void> start(event_part part) override {
    return run(part, function_(*static_cast<const E*>(part.event())));
  }

 private:
  /// The handler's own frame ends before its end is told, when what it refers to may go.
  template <class Work>
  static task<void> run(event_part part, Work work) {
    result<void> outcome;
    try {
      Work own = std::move(work);
      if constexpr (std::is_void_v<typename Work::value_type>)
        co_await std::move(own);
      else
        outcome = co_await std::move(own);
    } catch (...) {
      part.threw();
      co_return;
    }
    part.ended(outcome);
  }

  event_coroutines coroutines_;
  F function_;
};

template <class Returned>
inline constexpr bool is_handler_task =
    std::is_same_v<Returned, task<void>> || std::is_same_v<Returned, task<result<void>>>;

template <class F>
class event_gate final : public event_before {
 public:
  explicit event_gate(F f) : function_{std::move(f)} {}
  bool allows(const event_view& seen) override {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const event_view&>>) {
      function_(seen);
      return true;
    } else {
      return function_(seen);
    }
  }

 private:
  F function_;
};

template <class F>
class event_witness final : public event_after {
 public:
  explicit event_witness(F f) : function_{std::move(f)} {}
  void told(const event_view& seen, unsigned handled) override { function_(seen, handled); }

 private:
  F function_;
};

}  // namespace detail

}  // namespace weft
