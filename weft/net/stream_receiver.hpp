// A read of a stream that calls back instead of resuming: for those who wait most of the time and
// in great numbers, such as idle connections, to whom a coroutine's frame would be dear.
//
// Contract: derive. One read at a time, and no other of the same stream meanwhile. begin() says
// whether the answer stands already; else the function that was given is called once it does, from
// the ready queue. Either way take() then has it, as tcp_stream::read() would give it. No
// environment rules it: cancel() asks for an early answer, errc::cancelled, and a success that has
// won the race is one. Is destroyed, and the stream closed or dropped, only when nothing is
// pending. Allocates nothing. One shard.
//
//   class idle_client : net::stream_receiver {
//     void wait() { if (begin(stream_)) received(take(stream_)); }
//     static void on_answer(stream_receiver& self) noexcept {
//       auto& client = static_cast<idle_client&>(self);
//       client.received(client.take(client.stream_));
//     }
//   };
#pragma once

#include <weft/base/assert.hpp>
#include <weft/base/result.hpp>
#include <weft/loop/operation.hpp>

namespace weft {
class event_loop;
}

namespace weft::net {

class tcp_stream;

class stream_receiver {
 public:
  stream_receiver(const stream_receiver&) = delete;
  stream_receiver& operator=(const stream_receiver&) = delete;

 protected:
  using function = void (*)(stream_receiver&) noexcept;

  explicit stream_receiver(function on_answer) noexcept : on_answer_{on_answer} {
    read_.owner = this;
  }
  ~stream_receiver() {
    WEFT_DEBUG_ASSERT(!read_.pending, "who receives stays until there is an answer: cancel() asks");
  }

  /// True: take() has the answer. False: the function will be called.
  [[nodiscard]] bool begin(tcp_stream& stream) noexcept;
  /// begin() for who would not wait. False: nothing has come, and nothing is pending.
  [[nodiscard]] bool receive_now(tcp_stream& stream) noexcept;
  /// Once for each begin(), and each receive_now() that was true.
  [[nodiscard]] result<buffer_ref> take(tcp_stream& stream) noexcept;
  /// Does nothing while nothing is pending.
  void cancel(tcp_stream& stream) noexcept;

  /// Instead of begin(), for who still has work with what has come: calls `on_turn` once everybody
  /// who is ready has had a turn. There is nothing to take() then.
  void give_way(event_loop& loop, function on_turn) noexcept;

 private:
  struct owned_receive : receive_operation {
    using receive_operation::receive_operation;
    stream_receiver* owner = nullptr;
  };
  static void on_answered(operation& op) noexcept {
    stream_receiver& self = *static_cast<owned_receive&>(op).owner;
    self.on_answer_(self);
  }

  static void on_given_way(operation& op) noexcept;

  owned_receive read_{nullptr, &on_answered};
  function on_answer_;
  function on_turn_ = nullptr;  // while it gives way
};

}  // namespace weft::net
