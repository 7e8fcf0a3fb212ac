// What carries a request and its reply: a connection that speaks HTTP/1.1, or a stream of one that
// speaks HTTP/2.
//
// Problem: handlers, middlewares and bodies are the same whatever is spoken, and only who frames
// their bytes differs. Contract: internal to http; exchange, body_reader and body_writer work
// through it. What every request over HTTP/1.1 needs is no call here: they ask is_stream(), and
// know the connection then. One request at a time. One shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/connection_peer.hpp>
#include <weft/loop/buffer_pool.hpp>

namespace weft {
class file;
class shared_text;
}  // namespace weft

namespace weft::net {
struct tls_info;
}

namespace weft::http {

enum class body_framing : std::uint8_t;
class body_reader;
class body_writer;
struct connection_host;
class exchange;
class parsed_head;
struct reply_head;

/// Where a body lies that need not be copied.
struct body_memory {
  std::string* owned = nullptr;         // may be taken
  const shared_text* shared = nullptr;  // may be referred to
};

class carrier {
 public:
  carrier(const carrier&) = delete;
  carrier& operator=(const carrier&) = delete;
  virtual ~carrier() = default;

  /// Of HTTP/2; else it is a connection.
  [[nodiscard]] bool is_stream() const noexcept { return is_stream_; }
  /// nullptr: it speaks no TLS.
  [[nodiscard]] virtual const net::tls_info* tls() const noexcept = 0;
  /// Of the request under way, as somebody has noted; else empty.
  [[nodiscard]] virtual std::string_view forwarded_scheme() const noexcept = 0;

 protected:
  friend class body_reader;
  friend class body_writer;
  friend class exchange;

  carrier(connection_host& host, bool is_stream, bool is_cut) noexcept
      : host_{host}, is_cut_{is_cut}, is_stream_{is_stream} {}

  /// The client that a balancer has named, or the other end. Asks the kernel when it is first
  /// asked.
  [[nodiscard]] virtual const connection_peer& peer() = 0;
  /// Whether the request under way is the last, since it, or all of this, is asked to end.
  [[nodiscard]] bool is_ending() const noexcept {
    return is_cut_ || (stop_ != nullptr && stop_->stop_requested());
  }
  /// Whether another request may follow.
  [[nodiscard]] virtual bool keeps_alive(const parsed_head& head) const noexcept = 0;
  /// Whether bytes have come that nobody has read yet.
  [[nodiscard]] virtual bool has_input() const noexcept = 0;

  /// While a handler waits for the client, its time stands still.
  virtual void stop_handler_clock() noexcept = 0;
  virtual void start_handler_clock() noexcept = 0;

  /// Sends 100 (Continue). False: nobody is there.
  virtual task<bool> ask_for_body() = 0;
  /// More of the request's body as it was framed, in `slot` or where it stays until the next call.
  virtual task<result<std::string_view>> receive_body(buffer_ref& slot) = 0;
  /// Of a stream: whether all of the body has been given by receive_body().
  [[nodiscard]] virtual bool body_has_ended() const noexcept = 0;

  /// All of a reply. `memory`: of what `body` shows; nullptr: it is to be copied.
  virtual void send_reply(const reply_head& head, std::string_view body,
                          const body_memory* memory) = 0;
  /// The head of a reply whose body comes in pieces; `ends`: it has none.
  virtual void send_head(const reply_head& head, bool ends) = 0;
  virtual void append_body(std::string_view piece, body_framing framing) = 0;
  virtual void append_body(std::string&& piece, body_framing framing) = 0;
  virtual void end_body(body_framing framing) = 0;
  /// Of the reply, and not yet sent.
  [[nodiscard]] virtual std::size_t queued_bytes() const noexcept = 0;
  /// That, and what its client has not taken of what was sent. May ask the kernel.
  [[nodiscard]] virtual std::size_t untaken_bytes() const noexcept = 0;
  /// Whether it is not for its client that the reply waits, or not for its client's slowness.
  [[nodiscard]] virtual bool waits_for_others() const noexcept { return false; }
  /// Waits until little of that is left; `empty`: nothing, where a file may then be sent from.
  virtual task<result<void>> drain(bool empty) = 0;
  /// As tcp_stream::send_from().
  [[nodiscard]] virtual std::size_t send_from(const file& from, std::uint64_t offset,
                                              std::size_t size_bytes) noexcept = 0;

  connection_host& host_;
  stop_source* stop_ = nullptr;  // of what is waited for
  bool is_cut_;

 private:
  const bool is_stream_;
};

}  // namespace weft::http
