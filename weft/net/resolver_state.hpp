// c-ares and its sockets, run by the loop.
//
// Contract: internal to net. c-ares cannot call off one query of several: who stops waiting leaves
// its lookup behind, whose answer is then nobody's, and when nobody waits any more all are called
// off. c-ares's callbacks only note and schedule, so that no user code runs inside it. Owned by the
// resolver until that is dropped, then by itself until the last watch of a socket has answered. A
// channel knows the servers that it was made with: where their file has changed another channel
// takes its place, and the lookups under way.
#pragma once

#include <ares.h>

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/environment.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/operation.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/resolver.hpp>

namespace weft::net::detail {

class lookup_wait;

/// What c-ares is given to name a query by: alive until c-ares has answered it.
struct lookup {
  resolver_state* owner;
  lookup_wait* waiter;  // nullptr once it has gone
};

class resolver_state final : private timer {
 public:
  explicit resolver_state(event_loop& loop) noexcept : timer{timeout_kind}, loop_{loop} {}
  resolver_state(const resolver_state&) = delete;
  resolver_state& operator=(const resolver_state&) = delete;

  [[nodiscard]] result<void> open(const resolver_options& options);
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }

  /// Asks c-ares, which may answer from inside this call.
  void ask(lookup_wait& waiter);
  void look_at_file_next() noexcept { next_look_ = time_point::min(); }
  /// The waiter of `asked` has gone.
  void forget(lookup& asked) noexcept;

  /// The resolver has gone: end all lookups, and this.
  void abandon() noexcept;

 private:
  struct socket_watch;
  /// One direction of a socket.
  struct watch_half : poll_operation {
    watch_half(socket_watch& w, operation_kind kind, int fd) noexcept
        : poll_operation{kind, fd, &on_ready}, watch{w} {}
    socket_watch& watch;
    bool wanted = false;
  };
  struct socket_watch {
    socket_watch(resolver_state& state, int fd) noexcept
        : owner{state},
          reader{*this, operation_kind::readable, fd},
          writer{*this, operation_kind::writable, fd} {}
    [[nodiscard]] bool pending() const noexcept { return reader.pending || writer.pending; }
    resolver_state& owner;
    watch_half reader;
    watch_half writer;
    bool closed = false;  // c-ares closes the socket, whose number may come again
    list_hook hook;
  };

  ~resolver_state() = default;
  static void on_answer(void* argument, int status, int timeouts, ares_addrinfo* found);
  static void on_socket(void* argument, ares_socket_t fd, int readable, int writable);
  static void on_ready(operation& op) noexcept;
  static void on_timeout(timer& self) noexcept;
  static constexpr timer_kind timeout_kind{.on_expiry = &on_timeout,
                                           .name = "timeout of a resolver's query"};

  /// What tells one content of a file from another.
  struct file_mark {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size_bytes = 0;
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;
    friend bool operator==(const file_mark&, const file_mark&) = default;
  };
  /// No value: there is none, or it cannot be looked at.
  [[nodiscard]] static std::optional<file_mark> mark_of(const std::string& file) noexcept;

  /// A status of c-ares; `into` is made where that is ARES_SUCCESS.
  [[nodiscard]] int make_channel(ares_channel& into);
  void look_at_file();
  void replace_channel(ares_channel by, std::vector<lookup_wait*>& waiters);
  void begin(lookup_wait& waiter);

  void watch(int fd, bool readable, bool writable);
  void update(watch_half& half) noexcept;
  void process(ares_socket_t readable, ares_socket_t writable) noexcept;
  void settle() noexcept;

  event_loop& loop_;
  resolver_options options_;
  ares_channel channel_ = nullptr;
  std::optional<file_mark> file_;  // that channel_ was made with
  time_point next_look_ = time_point::min();
  std::vector<lookup_wait*>* moving_ = nullptr;  // while one channel takes the place of another
  std::size_t waiting_ = 0;                      // lookups whose waiter has not gone
  std::size_t asked_ = 0;                        // all lookups
  intrusive_list<socket_watch, &socket_watch::hook> watches_;
};

/// Awaitable: the addresses of a name, or why there are none.
class [[nodiscard]] lookup_wait : private runnable, private stop_registration, private timer {
 public:
  lookup_wait(resolver_state& state, const std::string& name, std::uint16_t port,
              int family) noexcept
      : runnable{&on_run},
        stop_registration{&on_stop},
        timer{deadline_kind},
        state_{state},
        name_{name},
        port_{port},
        family_{family} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<std::vector<endpoint>> await_resume() noexcept {
    return std::move(outcome_);
  }

 private:
  friend class resolver_state;
  bool begin(std::coroutine_handle<> waiting, const environment& env);
  /// c-ares has answered; nothing refers to this any more.
  void answered(int status, const ares_addrinfo* found);
  void leave(errc why) noexcept;
  void wake() noexcept;
  static void on_run(runnable& self) noexcept {
    weft::detail::resume(static_cast<lookup_wait&>(self).waiting_);
  }
  static void on_stop(stop_registration& self) noexcept {
    static_cast<lookup_wait&>(self).leave(errc::cancelled);
  }
  static void on_deadline(timer& self) noexcept {
    static_cast<lookup_wait&>(self).leave(errc::timed_out);
  }
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const lookup_wait&>(self).waiting_;
  }
  static constexpr timer_kind deadline_kind{
      .on_expiry = &on_deadline, .name = "deadline of a lookup", .owner = &owner_of};

  resolver_state& state_;
  const std::string& name_;
  std::uint16_t port_;
  int family_;
  lookup* asked_ = nullptr;          // until c-ares has answered
  std::coroutine_handle<> waiting_;  // once suspended
  result<std::vector<endpoint>> outcome_;
};

}  // namespace weft::net::detail
