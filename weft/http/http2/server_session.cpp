#include <weft/http/http2/server_session.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/field_block.hpp>
#include <weft/http/http2/queued_text.hpp>
#include <weft/http/http2/server_callbacks.hpp>
#include <weft/http/reply_head.hpp>

namespace weft::http::http2 {
namespace {

/// More frames than that, and those that its streams need, wait only for who cancels on while it
/// takes nothing.
constexpr std::size_t least_queued_frames = 1'000;

void expect_memory(int outcome) {
  if (outcome == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
}

/// Of this thread: none is kept beyond a call.
field_block& shared_fields() {
  thread_local field_block fields;
  return fields;
}

}  // namespace

server_session::server_session(connection_host& host, net::tcp_stream stream,
                               const std::optional<net::ip_address>& forwarded_for)
    : lazy_timer{host.loop, timeout_kind},
      flushable{&on_flush},
      stream_receiver{&on_received},
      host_{host},
      stream_{std::move(stream)},
      head_{host.limits.head_bytes},
      resets_{host.limits.http2.resets_per_second},
      idle_frames_{host.limits.http2.idle_frames_per_second},
      idle_since_{host.loop.now()} {
  if (forwarded_for) peer_.emplace(forwarded_for);
  join(host_);
  host_.counts.http2_connections.add();
}

server_session::~server_session() {
  if (flushable::hook.is_linked()) flushable::hook.unlink();
  client_link::leave(host_);
}

void* server_session::operator new(std::size_t size_bytes) {
  return frame_pool::allocate(size_bytes);
}

void server_session::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

void server_session::begin(connection_host& host, net::tcp_stream stream,
                           const std::optional<net::ip_address>& forwarded_for,
                           std::string_view received) {
  std::unique_ptr<server_session> self{new server_session{host, std::move(stream), forwarded_for}};
  self->open();
  server_session& session = *self.release();
  try {
    if (!received.empty()) session.receive(received);
  } catch (const std::exception& why) {
    log_dropped(why);
    session.lose();
  }
  session.go_on(false);
}

void server_session::open() {
  const http2_limits& bounds = host_.limits.http2;
  library_ = server_callbacks::open(*this);
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, bounds.concurrent_streams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bounds.stream_window_bytes},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                             static_cast<std::uint32_t>(host_.limits.head_bytes)},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  expect_memory(
      nghttp2_submit_settings(library_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  expect_memory(nghttp2_session_set_local_window_size(
      library_.get(), NGHTTP2_FLAG_NONE, 0,
      static_cast<std::int32_t>(bounds.connection_window_bytes)));
  flush_later();
}

// ---- in ---------------------------------------------------------------------------------------

void server_session::on_received(net::stream_receiver& self) noexcept {
  auto& session = static_cast<server_session&>(self);
  session.is_reading_ = false;
  session.go_on(true);
}

void server_session::go_on(bool has_received) noexcept {
  try {
    for (; has_received || !input_ended_; has_received = false) {
      if (!has_received) {
        if (host_.grace_is_over) [[unlikely]]
          leave_if_idle();
        set_deadline();
        is_reading_ = true;
        if (!stream_receiver::begin(stream_)) return;
        is_reading_ = false;
      }
      if (!take(stream_receiver::take(stream_))) break;
    }
  } catch (const std::exception& why) {
    log_dropped(why);
    lose();
  }
  input_ended_ = true;
  flush_later();
}

bool server_session::take(result<buffer_ref>&& bytes) {
  if (input_ended_) return false;
  if (bytes) {
    receive(bytes->text());
    return !input_ended_;
  }
  const bool sends_no_more = bytes.error() == errc::closed && host_.serves_half_closed;
  if (bytes.error() != errc::cancelled && !sends_no_more) lose();
  return false;
}

void server_session::receive(std::string_view bytes) {
  host_.counts.received_bytes.add(bytes.size());
  flush_later();
  for (std::string_view rest = bytes; const auto head = walker_.next(rest);) {
    note_head(*head);
    if (head->type > NGHTTP2_CONTINUATION) [[unlikely]] {
      if (!allows(idle_frames_, http2_offence::idle_frames)) return;
      continue;
    }
    const bool is_message = head->type == NGHTTP2_HEADERS || head->type == NGHTTP2_DATA;
    if (!is_message || closed_ids_.is_new(head->stream, head->type == NGHTTP2_HEADERS)) continue;
    // What stands of the stream, after all that has come before.
    const std::size_t before = bytes.size() - rest.size();
    const std::size_t fed = before - std::min(before, frame_head::size_bytes);
    if (!feed(bytes.substr(0, fed)) || input_ended_) return;
    bytes.remove_prefix(fed);
    if (!judge(*head)) return;
  }
  std::ignore = feed(bytes);
  if (!awaits_fields_ && !walker_.is_within()) head_due_ = time_point::max();
}

/// A header section has its time from its first frame to its last.
void server_session::note_head(const frame_head& head) noexcept {
  const bool begins = head.type == NGHTTP2_HEADERS;
  const bool has_fields = begins || head.type == NGHTTP2_CONTINUATION;
  awaits_fields_ = has_fields && (head.flags & NGHTTP2_FLAG_END_HEADERS) == 0;
  if (begins)
    head_due_ = loop_.now() + host_.limits.header_timeout;
  else if (!has_fields)
    head_due_ = time_point::max();
}

bool server_session::judge(const frame_head& head) noexcept {
  // What crosses GOAWAY is of a stream that never was (RFC 9113 section 6.8).
  if (is_leaving_ && head.stream > nghttp2_session_get_last_proc_stream_id(library_.get()))
    return true;
  if (nghttp2_session_get_stream_remote_close(library_.get(), head.stream) >= 0) return true;
  const std::uint32_t wrong = closed_ids_.judge(head.stream, loop_.now());
  if (wrong == NGHTTP2_NO_ERROR) return true;
  host_.counts.cut(http2_offence::protocol);
  nghttp2_session_terminate_session(library_.get(), wrong);
  input_ended_ = true;
  return false;
}

bool server_session::feed(std::string_view bytes) {
  if (bytes.empty()) return true;
  const auto taken = nghttp2_session_mem_recv(
      library_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken >= 0) return true;
  if (taken == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
  // Of what this has found itself, the client has been told already.
  const bool is_flood = taken == NGHTTP2_ERR_FLOODED || taken == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS;
  if (is_flood)
    cut_offender(http2_offence::idle_frames);
  else if (taken != NGHTTP2_ERR_CALLBACK_FAILURE)
    nghttp2_session_terminate_session(library_.get(), NGHTTP2_PROTOCOL_ERROR);
  input_ended_ = true;
  return false;
}

bool server_session::allows(rate_bound& bound, http2_offence what) noexcept {
  if (bound.take(loop_.now())) [[likely]]
    return true;
  cut_offender(what);
  return false;
}

void server_session::cut_offender(http2_offence what) noexcept {
  if (std::exchange(input_ended_, true)) return;
  host_.counts.cut(what);
  nghttp2_session_terminate_session(library_.get(), NGHTTP2_ENHANCE_YOUR_CALM);
}

// ---- out --------------------------------------------------------------------------------------

void server_session::on_flush(flushable& self) noexcept {
  auto& session = static_cast<server_session&>(self);
  try {
    if (!session.is_lost_ && !session.is_over_) {
      session.frame_output();
      if (!session.line_.empty()) [[unlikely]]
        session.answer_line();
    }
  } catch (const std::exception& why) {
    log_dropped(why);
    session.lose();
  }
  session.settle();
}

void server_session::frame_output() {
  while (stream_.queued_bytes() <= net::tcp_stream::high_watermark) {
    const std::uint8_t* frame = nullptr;
    const auto size = nghttp2_session_mem_send(library_.get(), &frame);
    if (size < 0) throw std::bad_alloc{};
    if (size == 0) break;
    copy_into(stream_, text_of(frame, static_cast<std::size_t>(size)));
  }
  std::ignore = stream_.pump();
  if (stream_.queued_bytes() <= net::tcp_stream::high_watermark) {
    // The others have their turn, and then the rest.
    if (nghttp2_session_want_write(library_.get()) != 0) flush_later();
    return;
  }
  // Replies to streams that were cancelled wait there as well.
  const std::size_t most_frames =
      least_queued_frames + std::size_t{4} * host_.limits.http2.concurrent_streams;
  if (nghttp2_session_get_outbound_queue_size(library_.get()) > most_frames)
    cut_offender(http2_offence::resets);
  if (is_waiting_) return;
  task<void> waiting = wait_for_room();
  is_waiting_ = true;
  host_.workers.spawn(std::move(waiting));
}

void server_session::answer_line() {
  while (may_answer()) {
    server_stream* const next = line_.pop_front();
    if (next == nullptr) break;
    next->take_turn();
  }
}

/// Until the client has taken some of what is queued. It is lost if it takes nothing.
task<void> server_session::wait_for_room() {
  environment patience{
      .stop = host_.stopping, .until = {}, .runs_on = &loop_, .owner = host_.owner};
  result<void> drained;
  for (std::size_t before = stream_.queued_bytes();;) {
    patience.until = deadline::at(loop_.now() + host_.limits.write_stall_timeout);
    drained = co_await drain_stream().in(patience);
    const std::size_t left = stream_.queued_bytes();
    if (drained || drained.error() != errc::timed_out || left >= before) break;
    before = left;
  }
  is_waiting_ = false;
  if (!drained) lose();
  flush_later();
}

task<result<void>> server_session::drain_stream() { co_return co_await stream_.drain(); }

void server_session::submit_reply(std::int32_t id, const reply_head& head, server_stream* body) {
  constexpr std::string_view date_name = "Date: ";
  constexpr std::string_view version = "HTTP/1.1 ";
  constexpr std::size_t code_digits = 3;
  std::array<char, 20> length{};
  field_block& reply_fields = shared_fields();
  reply_fields.begin(head.fields.size());
  reply_fields.add_lasting(":status", status_line(head.code).substr(version.size(), code_digits));
  // Which may show a later second, once it is framed.
  reply_fields.add_lasting("date",
                           head.start.date_line().substr(date_name.size(), date_size_bytes));
  if (!head.content_type.empty()) reply_fields.add("content-type", head.content_type);
  if (head.framing == body_framing::length && !is_bodiless(head.code)) {
    const auto end = std::to_chars(length.begin(), length.end(), head.content_length).ptr;
    reply_fields.add("content-length", {length.data(), end});
  }
  reply_fields.add_lines(head.fields);
  const nghttp2_data_provider from = server_callbacks::body_of(body);
  expect_memory(nghttp2_submit_response(library_.get(), id, reply_fields.data(),
                                        reply_fields.size(), body != nullptr ? &from : nullptr));
  flush_later();
}

void server_session::submit_continue(std::int32_t id) {
  field_block& reply_fields = shared_fields();
  reply_fields.begin(0);
  reply_fields.add_lasting(":status", "100");
  expect_memory(nghttp2_submit_headers(library_.get(), NGHTTP2_FLAG_NONE, id, nullptr,
                                       reply_fields.data(), reply_fields.size(), nullptr));
  flush_later();
}

void server_session::submit_reset(std::int32_t id, std::uint32_t code) noexcept {
  if (is_lost_) return;
  closed_ids_.note_reset(loop_.now());
  nghttp2_submit_rst_stream(library_.get(), NGHTTP2_FLAG_NONE, id, code);
  flush_later();
}

void server_session::set_priority(std::int32_t id, const stream_priority& wish) noexcept {
  const nghttp2_extpri said{.urgency = wish.urgency, .inc = wish.is_incremental ? 1 : 0};
  nghttp2_session_change_extpri_stream_priority(library_.get(), id, &said, 0);
}

void server_session::resume(std::int32_t id) {
  if (!is_lost_) expect_memory(nghttp2_session_resume_data(library_.get(), id));
}

void server_session::consume(std::int32_t id, std::size_t size_bytes) {
  if (is_lost_) return;
  expect_memory(nghttp2_session_consume(library_.get(), id, size_bytes));
  flush_later();
}

void server_session::consume_stream(std::int32_t id, std::size_t size_bytes) noexcept {
  if (is_lost_) return;
  nghttp2_session_consume_stream(library_.get(), id, size_bytes);
  flush_later();
}

void server_session::consume_connection(std::size_t size_bytes) noexcept {
  if (is_lost_) return;
  nghttp2_session_consume_connection(library_.get(), size_bytes);
  flush_later();
}

// ---- streams ----------------------------------------------------------------------------------

const std::optional<net::ip_address>& server_session::peer_address() {
  if (!peer_) {
    const auto peer = stream_.peer_endpoint();
    peer_.emplace(peer ? net::ip_address::of(*peer) : std::nullopt);
  }
  return *peer_;
}

/// The oldest of them always goes on, so that they never wait for each other.
bool server_session::may_gather(const server_stream& who) noexcept {
  if (gathered_ <= host_.limits.http2.connection_window_bytes) return true;
  for (const server_stream& each : streams_)
    if (each.is_gathering()) return &each == &who;
  return true;
}

void server_session::forget_gathered(std::size_t size_bytes) noexcept {
  // Only then is anything withheld.
  const bool was_beyond = gathered_ > host_.limits.http2.connection_window_bytes;
  gathered_ -= size_bytes;
  if (is_lost_ || !was_beyond) return;
  for (server_stream& each : streams_)
    if (each.is_gathering() && may_gather(each)) each.release_window();
}

void server_session::note_answered() {
  ++answered_;
  const std::uint32_t most = host_.limits.requests_per_connection;
  if (most != 0 && answered_ >= most) leave();
}

void server_session::forget(server_stream& gone) noexcept {
  gone.in_session.unlink();
  if (headed_ == &gone) headed_ = nullptr;
  if (--stream_count_ == 0) idle_since_ = loop_.now();
  flush_later();
}

}  // namespace weft::http::http2
