// One connection of the client to a server, in use or kept for the next request.
//
// Problem: a kept connection may end at any moment, and whoever takes it next must know; and a
// server that sends what nobody has asked for must not have it taken for the next answer. Contract:
// internal to http. It listens all the time, by a call back, so that one that is kept needs no
// coroutine and holds no buffer: it tells its origin when its end has come, or anything else. Who
// has it for a request reads what comes, a buffer at a time: no more is received before that has
// been taken. retire() ends it whatever is under way; it deletes itself once nothing is. One shard.
//
//   if (auto came = co_await connection.arrival(); !came) co_return fail(came.error());
//   auto bytes = connection.take();                       // errc::closed: the end
#pragma once

#include <cstddef>
#include <optional>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/net/stream_receiver.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {

class origin_pool;

class client_connection final : private net::stream_receiver, private lazy_timer {
 public:
  /// Awaitable, gives result<void>: until take() has something.
  class [[nodiscard]] arrival_wait final : public waiter {
   public:
    explicit arrival_wait(client_connection& of) noexcept : connection_{of} {}
    [[nodiscard]] result<void> await_resume() const noexcept { return outcome(); }

   private:
    friend waiter;
    wait_line& line() noexcept { return connection_.readers_; }
    bool take() noexcept { return connection_.listen(); }
    client_connection& connection_;
  };

  client_connection(origin_pool& home, event_loop& loop, net::tcp_stream stream);
  client_connection(const client_connection&) = delete;
  client_connection& operator=(const client_connection&) = delete;
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  // For the request that it is used for.

  [[nodiscard]] net::tcp_stream& stream() noexcept { return stream_; }
  [[nodiscard]] arrival_wait arrival() noexcept { return arrival_wait{*this}; }
  [[nodiscard]] bool has_arrived() const noexcept { return arrived_.has_value(); }
  [[nodiscard]] result<buffer_ref> take() noexcept;

  // For its origin.

  /// Kept until then. False: its end has come, or something that nobody has asked for.
  [[nodiscard]] bool rest(time_point until) noexcept;
  /// Kept no longer: a request has it.
  void wake() noexcept;
  /// Closes it. What has not been sent by then may not be.
  void retire() noexcept;

  list_hook kept;  // in its origin's list

 private:
  ~client_connection() = default;

  /// True: take() has something. False: it will.
  [[nodiscard]] bool listen() noexcept;
  static void on_received(net::stream_receiver& self) noexcept;
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of a kept connection"};

  origin_pool* home_;
  net::tcp_stream stream_;
  wait_line readers_;
  std::optional<result<buffer_ref>> arrived_;
  bool listens_ = false;
  bool is_retired_ = false;
};

}  // namespace weft::http
