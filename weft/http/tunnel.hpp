// A way to a client for another protocol that is no connection of its own: a stream of HTTP/2 that
// was opened by extended CONNECT (RFC 8441, RFC 9113 section 8.5).
//
// Contract: internal to http. Reading is like a net::stream_receiver's: begin_read() says whether
// the answer stands already; else `on_answer` is called with `who` once it does, from the ready
// queue. Either way take_read() then has it. errc::closed: the client sends no more; errc::reset:
// the tunnel is no more. What is to go is put into output(), and leaves by send_later(). Destroying
// it, when no read is pending, gives it up: what is queued before an end_output() still leaves, and
// without one the client is told that this was no end. One shard.
//
//   through->output().append(frame);
//   through->send_later();
#pragma once

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/buffer_pool.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/stream_receiver.hpp>
#include <weft/net/write_queue.hpp>

namespace weft::net {
struct tls_info;
}

namespace weft::http {

class tunnel {
 public:
  using answer_function = void (*)(net::stream_receiver& who) noexcept;

  tunnel() noexcept = default;
  tunnel(const tunnel&) = delete;
  tunnel& operator=(const tunnel&) = delete;
  virtual ~tunnel() = default;

  [[nodiscard]] virtual bool begin_read(answer_function on_answer,
                                        net::stream_receiver& who) noexcept = 0;
  [[nodiscard]] virtual result<buffer_ref> take_read() noexcept = 0;
  /// Does nothing while nothing is pending.
  virtual void cancel_read() noexcept = 0;

  [[nodiscard]] virtual net::write_queue& output() noexcept = 0;
  [[nodiscard]] virtual const net::write_queue& output() const noexcept = 0;
  virtual void send_later() = 0;
  /// As net::tcp_stream's.
  [[nodiscard]] virtual task<result<void>> drain() = 0;
  virtual void end_output() noexcept = 0;
  virtual void give_up_output() noexcept = 0;

  [[nodiscard]] virtual result<net::endpoint> peer_endpoint() const = 0;
  [[nodiscard]] virtual const net::tls_info* tls() const noexcept = 0;
};

}  // namespace weft::http
