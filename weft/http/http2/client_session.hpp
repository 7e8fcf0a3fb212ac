// One connection of the client that speaks HTTP/2, and the calls that share it.
//
// Contract: internal to http. nghttp2 does the framing, HPACK and the windows; here is when frames
// leave, and what becomes of the calls. What all of them have to say in a turn leaves in one send,
// at its end; nothing is framed while more than net::tcp_stream::high_watermark bytes wait to be
// sent. It listens all the time, so that it knows when the server leaves. Its origin lends it out
// while has_room(); hold() and release() count to whom. A stream's window is
// stream_window_bytes, which is given back as it is read; the connection's is given back at once,
// so that nobody who reads slowly keeps the others from their answers. It ends when the connection
// does, when nobody has held it for client_options::idle_timeout, or by retire(), and deletes
// itself once nothing is pending and it is held no more. One shard.
//
//   session.hold();
//   session.submit(stream, has_body);    // stream.take_field(), take_data(), take_close()
//   session.leave(stream);
//   session.release();
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/http2/field_block.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/http2/opened_stream.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/net/stream_receiver.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {
struct client_core;
class origin_pool;
}  // namespace weft::http

namespace weft::http::http2 {

/// What nghttp2 takes of a body at a time.
inline constexpr std::size_t frame_most_bytes = 16 * 1024;

class client_session final : private lazy_timer, private flushable, private net::stream_receiver {
 public:
  static constexpr std::int32_t stream_window_bytes = 256 * 1024;

  /// Throws std::bad_alloc.
  client_session(origin_pool& home, client_core& core, net::tcp_stream stream);
  client_session(const client_session&) = delete;
  client_session& operator=(const client_session&) = delete;
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  // For its calls.

  [[nodiscard]] field_block& fields() noexcept { return fields_; }
  /// Opens a stream with what stands in fields(). Where none can be opened any more, it is told so
  /// by take_close(), from within. Throws std::bad_alloc.
  void submit(opened_stream& stream, bool has_body);
  /// A body that had nothing to give has more, or has ended.
  void resume(const opened_stream& stream) noexcept;
  /// So much of what came has been read.
  void consume(const opened_stream& stream, std::size_t size_bytes) noexcept;
  /// A request has waited in vain: the session is lent no more, if nothing has come since.
  void doubt(time_point since) noexcept;
  /// Nothing more is told to it; the server is told, if it might go on.
  void leave(opened_stream& stream) noexcept;

  // For its origin.

  [[nodiscard]] bool has_room() const noexcept;
  void hold() noexcept { ++held_; }
  void release() noexcept;
  [[nodiscard]] bool is_held() const noexcept { return held_ != 0; }
  /// Ends it, though calls be under way: they are told.
  void retire() noexcept;

  list_hook in_origin;

 private:
  friend struct client_callbacks;

  ~client_session();
  static void on_received(net::stream_receiver& self) noexcept;
  static void on_flush(flushable& self) noexcept;
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of a kept HTTP/2 session"};

  void open();
  void listen() noexcept;
  [[nodiscard]] bool take(result<buffer_ref>&& bytes) noexcept;
  [[nodiscard]] bool is_broken() noexcept;
  void frame_output();
  task<void> wait_for_room();
  task<result<void>> drain_stream();
  [[nodiscard]] bool is_full() const noexcept;
  void take_settings() noexcept;
  /// No further streams are opened here.
  void take_leave() noexcept;
  void close(opened_stream& stream, std::uint32_t code) noexcept;
  void lose(error why) noexcept;
  void settle() noexcept;
  void flush_later() noexcept { loop_.flush_later(*this); }

  client_core& core_;
  origin_pool& home_;
  net::tcp_stream stream_;
  session_handle library_;
  field_block fields_;
  intrusive_list<opened_stream, &opened_stream::in_session> streams_;
  time_point heard_at_;
  unsigned held_ = 0;
  bool is_leaving_ = false;  // takes no further calls
  bool is_lost_ = false;     // says and hears nothing any more
  bool is_reading_ = false;
  bool is_waiting_ = false;  // for room
};

}  // namespace weft::http::http2
