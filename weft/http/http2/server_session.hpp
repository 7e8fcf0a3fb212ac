// One connection that speaks HTTP/2: frames in, streams answered, frames out.
//
// Contract: internal to http. begin() takes an accepted stream over, whose client speaks HTTP/2 by
// agreement (ALPN) or by its first bytes; the session is its own from then on. frame_reader.hpp
// says what has come, field_decoder.hpp and field_encoder.hpp are HPACK; here is what frames mean
// to streams and windows, who is answered, when frames leave, and what a client may do how often. A
// small reply is framed where it will be sent from, as one of HTTP/1.1 is; of others, the streams
// that have something to say do so in turn, a frame each, the urgent ones first (RFC 9218). What
// all of them say in a turn leaves in one send, at its end; no body is framed while more than
// net::tcp_stream::high_watermark bytes wait to be sent. Reading goes on meanwhile: each of limits,
// which this counts, bounds what that can make the server hold.
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
#include <weft/http/http2/field_decoder.hpp>
#include <weft/http/http2/field_encoder.hpp>
#include <weft/http/http2/frame_reader.hpp>
#include <weft/http/http2/inbound_window.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/http2/peer_settings.hpp>
#include <weft/http/http2/rate_bound.hpp>
#include <weft/http/http2/request_text.hpp>
#include <weft/http/http2/server_stream.hpp>
#include <weft/http/http2/stream_table.hpp>
#include <weft/http/send_pace.hpp>
#include <weft/http/server_counts.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/loop/slow_peer.hpp>
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
                             private slow_peer,
                             private net::stream_receiver {
 public:
  /// Serves until the connection ends. `received`: what has been read of it already.
  static void begin(connection_host& host, net::tcp_stream stream,
                    const std::optional<connection_peer>& named, std::string_view received);
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
  [[nodiscard]] const connection_peer& peer();
  [[nodiscard]] result<net::endpoint> peer_endpoint() const { return stream_.peer_endpoint(); }
  [[nodiscard]] request_text& head() noexcept { return head_; }
  /// All of a reply, if it can be framed at once. False: it cannot, and nothing was.
  [[nodiscard]] bool send_whole(server_stream& from, const reply_head& head, std::string_view body);
  /// `ends`: there is no body. Throws std::bad_alloc.
  void send_head(server_stream& from, const reply_head& head, bool ends);
  void send_continue(server_stream& from);
  /// It has something to frame, or the end of its reply.
  void send_soon(server_stream& who) noexcept;
  /// Resets it, with this turn.
  void end_stream(server_stream& who, std::uint32_t code) noexcept;
  /// That, for what its client has done: it counts.
  void fail_stream(server_stream& who, std::uint32_t code) noexcept;
  /// The client may send as much again.
  void consume(server_stream& who, std::size_t size_bytes) noexcept;
  void consume_stream(server_stream& who, std::size_t size_bytes) noexcept;
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
    return queued_ < host_.limits.http2.queued_reply_bytes &&
           stream_.queued_bytes() < output_most_bytes;
  }
  void stand_in_line(server_stream& who) noexcept { line_.push_back(who); }
  /// Has its handler, which must wait, begin once those of the streams before it have begun and
  /// others have had their turn.
  void begin_in_turn(server_stream& who) noexcept;
  /// Whether the client lets bodies come, or has taken enough of them of late.
  [[nodiscard]] bool goes_on() const noexcept { return out_window_ > 0 || takes_enough_; }
  /// Takes it out of the list.
  void forget(server_stream& gone) noexcept;
  /// At the end of the turn, what there is to send is framed and sent.
  void flush_later() noexcept { loop_.flush_later(*this); }

 private:
  /// Of what is framed and not sent: replies that are only heads are framed whatever waits.
  static constexpr std::size_t output_most_bytes = 4 * net::tcp_stream::high_watermark;

  server_session(connection_host& host, net::tcp_stream stream,
                 const std::optional<connection_peer>& named);
  void go_on(bool has_received) noexcept;
  static void on_received(net::stream_receiver& self) noexcept;
  static void on_turn(net::stream_receiver& self) noexcept;
  static void on_begin(runnable& self) noexcept;
  static void on_flush(flushable& self) noexcept;
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of an HTTP/2 connection"};

  /// Of reading; false: there is no more.
  [[nodiscard]] bool take(result<buffer_ref>&& bytes);
  /// From `input`. Leaves the rest there once so many requests have begun, or so much has been
  /// produced, that others are to have their turn.
  void take_frames(std::string_view& input);
  void begin_with(std::string_view received);
  [[nodiscard]] bool take_rest();
  void give_way() noexcept;
  /// A header section has its time from its first frame to its last.
  void note_head_time() noexcept;

  // server_session_frames.cpp: what comes
  void take_frame(const frame& come);
  void take_headers(const frame& come);
  void begin_request(std::int32_t id);
  void take_fields(std::string_view fragment, bool is_last);
  void take_huge_field(bool is_last);
  void pass_over_fields(std::string_view fragment, bool is_last);
  /// False: nothing more is wanted.
  [[nodiscard]] bool take_field(std::string_view name, std::string_view value);
  [[nodiscard]] bool take_trailer(std::string_view name, std::string_view value);
  void end_fields();
  void take_data(const frame& come);
  /// Whose it is; nullptr: nobody's, and that may be, or the connection has been ended.
  [[nodiscard]] server_stream* receiver_of(const frame& come) noexcept;
  void take_body_end(server_stream& whose);
  void take_reset(std::int32_t id) noexcept;
  void take_settings(const frame& come) noexcept;
  void take_goaway(std::string_view payload) noexcept;
  void take_window(const frame& come) noexcept;
  /// Of a frame for a stream that is no more: whether it may come.
  [[nodiscard]] bool judge(std::int32_t id) noexcept;
  /// Of a stream that was never begun, and of which nothing may be said.
  [[nodiscard]] bool is_unused(std::int32_t id) const noexcept;
  /// Of a stream that crosses GOAWAY: it never was (RFC 9113 section 6.8).
  [[nodiscard]] bool is_beyond_goodbye(std::int32_t id) const noexcept {
    return is_leaving_ && id > closed_ids_.last();
  }

  // server_session_output.cpp: what goes
  [[nodiscard]] bool has_room() const noexcept {
    return stream_.queued_bytes() <= net::tcp_stream::high_watermark;
  }
  [[nodiscard]] bool may_send() const noexcept { return !is_lost_ && !is_terminated_ && !is_over_; }
  /// What it answers counts, while the client takes nothing.
  void send_frame(const frame_head& head, std::string_view payload, http2_offence what) noexcept;
  void send_number(std::uint8_t type, std::int32_t stream, std::uint32_t number) noexcept;
  void send_reset(std::int32_t id, std::uint32_t code) noexcept;
  void send_goaway(std::int32_t last, std::uint32_t code) noexcept;
  void send_settings();
  /// HEADERS, where there is room for it. Gives its end.
  [[nodiscard]] char* put_head(char* begin, const server_stream& from, const reply_head& head,
                               bool ends) noexcept;
  void send_long_head(const server_stream& from, const reply_head& head, bool ends);
  /// It waits, if nothing is taken: only so many may.
  void note_frame(http2_offence what) noexcept;
  /// The end of its reply has been framed.
  void note_reply_end(server_stream& whose) noexcept;
  void end_quietly(server_stream& who) noexcept;
  /// Frames what may go, into the connection's queue.
  void frame_output();
  /// Of a body. False: the connection's window is shut.
  [[nodiscard]] bool frame_data(server_stream& from);
  // As a slow peer, from when something waits for the client until nothing does.
  void note_blocked() noexcept;
  void note_taken() noexcept;
  void note_unblocked() noexcept;
  [[nodiscard]] bool has_bodies_queued() noexcept;
  static std::size_t held_bytes(slow_peer& self) noexcept;
  static void drop(slow_peer& self) noexcept;
  static constexpr slow_peer_kind slow_kind{.held_bytes = &held_bytes, .drop = &drop};
  /// Of bodies that have left: an end needs no window.
  void frame_bare_ends();
  void close_ended() noexcept;
  void close(server_stream& gone) noexcept;
  /// The connection's end, with what the client is told.
  void terminate(std::uint32_t code) noexcept;
  /// That, without a word: there is no memory for it.
  void end_untold() noexcept;
  /// Of replies that were given whole and not yet sent.
  [[nodiscard]] std::size_t produced_bytes() const noexcept {
    return queued_ + stream_.queued_bytes();
  }
  /// Answers those who stand in line, as far as may be, and as many as in a turn.
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
  memory_reservation own_;  // of this, and of the table of its field_decoder
  net::tcp_stream stream_;
  frame_reader reader_;
  field_decoder decoder_;
  field_encoder encoder_;
  peer_settings peer_settings_;
  request_text head_;  // of the header section that is coming
  stream_table<server_stream> open_;
  intrusive_list<server_stream, &server_stream::in_session> streams_;  // closed ones among them
  intrusive_list<server_stream, &server_stream::in_line> line_;  // who may not be answered yet
  intrusive_list<server_stream, &server_stream::in_beginning> to_begin_;  // whose handlers wait
  struct beginning : runnable {
    explicit beginning(server_session& of) noexcept : runnable{&on_begin}, owner{of} {}
    server_session& owner;
    bool is_scheduled = false;
  } beginning_{*this};
  buffer_ref input_;  // what is left of it, while this gives way
  intrusive_list<server_stream, &server_stream::in_ready> ready_;
  intrusive_list<server_stream, &server_stream::in_ending> ending_;
  std::optional<connection_peer> peer_;  // once it has been asked for
  inbound_window in_window_{first_window_bytes};
  std::int64_t out_window_ = first_window_bytes;
  std::int64_t stream_window_;  // of what comes, as the client knows it
  closed_ids closed_ids_;
  rate_bound resets_;
  rate_bound idle_frames_;
  std::size_t gathered_ = 0;      // of bodies that are wanted whole
  std::size_t queued_ = 0;        // of replies that were given whole, in all streams
  std::size_t held_frames_ = 0;   // since the client has taken nothing
  std::size_t framed_bytes_ = 0;  // of bodies: since streams were last looked at
  http2_offence held_for_ = http2_offence::resets;  // what the last of them answers
  server_stream* headed_ = nullptr;  // whose header section is coming; nullptr: it is passed over
  std::size_t section_bytes_ = 0;    // of trailers, or of what is passed over
  std::uint32_t stream_count_ = 0;
  std::uint32_t answered_ = 0;
  std::uint32_t begun_ = 0;        // requests
  std::uint64_t given_bytes_ = 0;  // to the connection, to be sent
  send_pace pace_;                 // at which its client takes that
  std::int32_t client_goodbye_ = INT32_MAX;
  time_point idle_since_;
  time_point head_due_ = time_point::max();  // while a header section is coming
  time_point look_at_ = time_point::max();   // for those who take nothing
  bool are_trailers_ = false;                // the section that is coming
  bool section_ends_stream_ = false;
  bool trailers_are_malformed_ = false;
  bool knows_settings_ = false;  // the client has acknowledged them
  bool is_reading_ = false;
  bool is_waiting_ = false;     // a task of this is under way
  bool is_blocked_ = false;     // stands in the line of slow peers
  bool input_ended_ = false;    // nothing more is read
  bool is_warned_ = false;      // the client knows that this will leave
  bool is_leaving_ = false;     // and that it has
  bool is_terminated_ = false;  // and that nothing goes on
  bool is_cut_ = false;
  bool is_lost_ = false;
  bool is_over_ = false;
  bool has_lingered_ = false;
  bool takes_enough_ = false;  // of bodies, when streams were last looked at
};

}  // namespace weft::http::http2
