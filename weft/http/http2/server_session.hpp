// One connection that speaks HTTP/2: frames in, streams answered, frames out.
//
// Contract: internal to http. begin() takes an accepted stream over, whose client speaks HTTP/2 by
// agreement (ALPN) or by its first bytes; the session is its own from then on. nghttp2 does the
// framing, HPACK and the windows; here is who is answered, when frames leave, and what a client may
// do how often. What all streams of a turn have to say leaves in one send, at the end of the turn;
// nothing is framed while more than net::tcp_stream::high_watermark bytes wait to be sent. Reading
// goes on meanwhile: each of limits, which this counts, bounds what that can make the server hold.
// It leaves by two GOAWAY frames, of which the first only warns, and ends with its last stream. A
// client that goes beyond a bound is told ENHANCE_YOUR_CALM and cut. One shard.
//
//   server_session::begin(host, std::move(stream), forwarded_for, received);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/client_link.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/closed_ids.hpp>
#include <weft/http/http2/frame_walker.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/http2/priority_field.hpp>
#include <weft/http/http2/rate_bound.hpp>
#include <weft/http/http2/request_text.hpp>
#include <weft/http/http2/server_stream.hpp>
#include <weft/http/server_counts.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/net/ip_address.hpp>
#include <weft/net/stream_receiver.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {
struct reply_head;
}  // namespace weft::http

namespace weft::http::http2 {

class server_session final : public client_link,
                             private lazy_timer,
                             private flushable,
                             private net::stream_receiver {
 public:
  /// Serves until the connection ends. `received`: what has been read of it already.
  static void begin(connection_host& host, net::tcp_stream stream,
                    const std::optional<net::ip_address>& forwarded_for, std::string_view received);
  ~server_session() override;
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  void prepare_to_leave() noexcept override;
  void leave_if_idle() noexcept override;
  void cut() noexcept override;
  [[nodiscard]] std::string description() const override;

  // For its streams.
  [[nodiscard]] connection_host& host() const noexcept { return host_; }
  [[nodiscard]] const net::tls_info* tls() const noexcept { return stream_.tls(); }
  [[nodiscard]] const std::optional<net::ip_address>& peer_address();
  [[nodiscard]] result<net::endpoint> peer_endpoint() const { return stream_.peer_endpoint(); }
  [[nodiscard]] request_text& head() noexcept { return head_; }
  /// `body`: who gives it; nullptr: there is none. Throws std::bad_alloc.
  void submit_reply(std::int32_t id, const reply_head& head, server_stream* body);
  void submit_continue(std::int32_t id);
  void submit_reset(std::int32_t id, std::uint32_t code) noexcept;
  void set_priority(std::int32_t id, const stream_priority& wish) noexcept;
  /// What a stream has deferred goes on.
  void resume(std::int32_t id);
  /// The client may send as much again.
  void consume(std::int32_t id, std::size_t size_bytes);
  void consume_stream(std::int32_t id, std::size_t size_bytes) noexcept;
  void consume_connection(std::size_t size_bytes) noexcept;
  /// Whether a stream that gathers may have its window back, or as many bytes as may be wait here.
  [[nodiscard]] bool may_gather(const server_stream& who) noexcept;
  void note_gathered(std::size_t size_bytes) noexcept { gathered_ += size_bytes; }
  /// So many are kept no more, or one gathers no more: others may go on.
  void forget_gathered(std::size_t size_bytes) noexcept;
  void note_answered();
  /// Of replies that are given whole: what waits to be framed, and what no longer does.
  void note_queued(std::size_t size_bytes) noexcept { queued_ += size_bytes; }
  void note_sent(std::size_t size_bytes) noexcept { queued_ -= size_bytes; }
  /// Whether so little waits that more may be made.
  [[nodiscard]] bool may_answer() const noexcept {
    return queued_ < host_.limits.http2.queued_reply_bytes;
  }
  void stand_in_line(server_stream& who) noexcept { line_.push_back(who); }
  /// Takes it out of the list.
  void forget(server_stream& gone) noexcept;
  /// At the end of the turn, what there is to send is framed and sent.
  void flush_later() noexcept { loop_.flush_later(*this); }

 private:
  friend struct server_callbacks;

  server_session(connection_host& host, net::tcp_stream stream,
                 const std::optional<net::ip_address>& forwarded_for);
  void open();
  void go_on(bool has_received) noexcept;
  static void on_received(net::stream_receiver& self) noexcept;
  static void on_flush(flushable& self) noexcept;
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of an HTTP/2 connection"};

  /// Of reading; false: there is no more.
  [[nodiscard]] bool take(result<buffer_ref>&& bytes);
  void receive(std::string_view bytes);
  void note_head(const frame_head& head) noexcept;
  /// Gives nghttp2 what has come. False: that is the last that is read.
  bool feed(std::string_view bytes);
  /// Of what nghttp2 would not say: whether it may come.
  [[nodiscard]] bool judge(const frame_head& head) noexcept;
  /// Frames what may go, into the connection's queue.
  void frame_output();
  /// Answers those who stand in line, as far as may be.
  void answer_line();
  task<void> wait_for_room();
  /// Whoever goes on for long without a request or content is cut.
  [[nodiscard]] bool allows(rate_bound& bound, http2_offence what) noexcept;
  void cut_offender(http2_offence what) noexcept;
  /// Tells the client that no new stream is answered.
  void leave() noexcept;
  void look_for_stalled();
  /// Those that nobody works for, now and again.
  void cut_streams() noexcept;
  /// The connection is no more.
  void lose() noexcept;
  void close_streams() noexcept;
  [[nodiscard]] bool is_done() const noexcept;
  /// After each piece of work: sets the next deadline, or ends this, which may delete it.
  void settle() noexcept;
  void set_deadline() noexcept;
  void end() noexcept;
  task<void> linger();
  task<void> drop_input();
  task<result<void>> drain_stream();

  connection_host& host_;
  net::tcp_stream stream_;
  session_handle library_;
  request_text head_;  // of the header section that is coming
  intrusive_list<server_stream, &server_stream::in_session> streams_;
  intrusive_list<server_stream, &server_stream::in_line> line_;  // who may not be answered yet
  std::optional<std::optional<net::ip_address>> peer_;           // once it is known
  frame_walker walker_{client_preface.size()};
  closed_ids closed_ids_;
  rate_bound resets_;
  rate_bound idle_frames_;
  std::size_t gathered_ = 0;         // of bodies that are wanted whole
  std::size_t queued_ = 0;           // of replies that were given whole, in all streams
  server_stream* headed_ = nullptr;  // whose header section is coming, or came last
  std::size_t trailer_bytes_ = 0;
  std::uint32_t stream_count_ = 0;
  std::uint32_t answered_ = 0;
  time_point idle_since_;
  time_point head_due_ = time_point::max();  // while a header section is coming
  time_point look_at_ = time_point::max();   // for those who take nothing
  bool awaits_fields_ = false;               // of the section that the last frame belongs to
  bool trailers_are_malformed_ = false;
  bool is_reading_ = false;
  bool is_waiting_ = false;   // a task of this is under way
  bool input_ended_ = false;  // nothing more is read
  bool is_warned_ = false;    // the client knows that this will leave
  bool is_leaving_ = false;   // and that it has
  bool is_cut_ = false;
  bool is_lost_ = false;
  bool is_over_ = false;
  bool has_lingered_ = false;
};

}  // namespace weft::http::http2
