#include <weft/http/http2/server_session.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/net/tls_stream.hpp>

namespace weft::http::http2 {
namespace {

/// As of a connection that speaks HTTP/1.1.
constexpr std::uint32_t requests_per_turn = 16;
constexpr std::size_t produced_per_turn_bytes = 8 * 1024;

}  // namespace

/// An idle connection takes so much, as measured, where the client has filled the table.
constexpr std::size_t own_bytes = 8 * 1024;

server_session::server_session(connection_host& host, net::tcp_stream stream,
                               const std::optional<connection_peer>& named)
    : lazy_timer{host.loop, timeout_kind},
      flushable{&on_flush},
      stream_receiver{&on_received},
      host_{host},
      own_{host.loop.memory().hold(memory_kind::requests, own_bytes)},
      stream_{std::move(stream)},
      head_{host.limits.head_bytes},
      peer_{named},
      stream_window_{
          std::max<std::int64_t>(first_window_bytes, host.limits.http2.stream_window_bytes)},
      resets_{host.limits.http2.resets_per_second},
      idle_frames_{host.limits.http2.idle_frames_per_second},
      idle_since_{host.loop.now()} {
  net::keep_while(stream_, stream_count_);
  join(host_);
  host_.counts.http2_connections.add();
}

server_session::~server_session() {
  if (flushable::hook.is_linked()) flushable::hook.unlink();
  note_unblocked();
  client_link::leave(host_);
}

void* server_session::operator new(std::size_t size_bytes) {
  return frame_pool::allocate(size_bytes);
}

void server_session::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

void server_session::begin(connection_host& host, net::tcp_stream stream,
                           const std::optional<connection_peer>& named, std::string_view received) {
  std::unique_ptr<server_session> self{new server_session{host, std::move(stream), named}};
  self->send_settings();
  server_session& session = *self.release();
  try {
    session.host_.counts.received_bytes.add(received.size());
    session.begin_with(received);
  } catch (const std::exception& why) {
    log_dropped(why);
    session.host_.desk->abandon();
    session.lose();
  }
  session.go_on(false);
}

// ---- in ---------------------------------------------------------------------------------------

void server_session::on_received(net::stream_receiver& self) noexcept {
  auto& session = static_cast<server_session&>(self);
  session.is_reading_ = false;
  session.go_on(true);
}

void server_session::on_turn(net::stream_receiver& self) noexcept {
  auto& session = static_cast<server_session&>(self);
  session.is_reading_ = false;
  session.go_on(true);
}

void server_session::go_on(bool has_received) noexcept {
  try {
    for (; has_received || !input_ended_; has_received = false) {
      if (input_) [[unlikely]] {
        if (!has_received) return give_way();
        if (!take_rest()) break;
        continue;
      }
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
    host_.desk->abandon();
    lose();
  }
  input_ended_ = true;
  flush_later();
}

bool server_session::take(result<buffer_ref>&& bytes) {
  if (input_ended_) return false;
  if (bytes) {
    input_ = std::move(*bytes);
    host_.counts.received_bytes.add(input_.size());
    return take_rest();
  }
  const bool sends_no_more = bytes.error() == errc::closed && host_.serves_half_closed;
  if (bytes.error() != errc::cancelled && !sends_no_more) lose();
  return false;
}

/// What has come before this began lies in memory of others.
void server_session::begin_with(std::string_view received) {
  while (!received.empty() && !input_ended_ && !input_) {
    take_frames(received);
    if (received.empty() || received.size() > buffer_pool::slot_capacity) continue;
    input_ = loop_.buffers().acquire();
    if (!input_) continue;
    std::ranges::copy(received, input_.data());
    input_.resize(received.size());
  }
}

void server_session::give_way() noexcept {
  is_reading_ = true;
  stream_receiver::give_way(loop_, &on_turn);
}

bool server_session::take_rest() {
  std::string_view rest = input_.text();
  const std::size_t before = rest.size();
  take_frames(rest);
  if (input_ended_ || rest.empty())
    input_.reset();
  else
    input_.remove_prefix(before - rest.size());
  return !input_ended_;
}

void server_session::take_frames(std::string_view& input) {
  flush_later();
  const std::uint32_t enough = begun_ + requests_per_turn;
  const std::size_t before = produced_bytes();
  for (frame come; !input_ended_ && reader_.next(input, come);) {
    take_frame(come);
    const std::size_t produced = produced_bytes() - std::min(before, produced_bytes());
    if (begun_ < enough && produced < produced_per_turn_bytes) continue;
    loop_.note_produced(produced);
    break;
  }
  if (input_ended_) return;
  if (const std::uint32_t wrong = reader_.wrong(); wrong == NGHTTP2_ENHANCE_YOUR_CALM)
    cut_offender(http2_offence::idle_frames);
  else if (wrong != NGHTTP2_NO_ERROR)
    terminate(wrong);
  note_head_time();
}

void server_session::note_head_time() noexcept {
  if (!reader_.is_within_fields()) [[likely]]
    head_due_ = time_point::max();
  else if (head_due_ == time_point::max())
    head_due_ = loop_.now() + host_.limits.header_timeout;
}

bool server_session::allows(rate_bound& bound, http2_offence what) noexcept {
  if (bound.take(loop_.now())) [[likely]]
    return true;
  cut_offender(what);
  return false;
}

void server_session::cut_offender(http2_offence what) noexcept {
  if (input_ended_) return;
  host_.counts.cut(what);
  terminate(NGHTTP2_ENHANCE_YOUR_CALM);
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
    session.host_.desk->abandon();
    session.lose();
  }
  session.settle();
}

void server_session::answer_line() {
  const std::size_t before = produced_bytes();
  for (unsigned left = requests_per_turn; left > 0 && may_answer(); --left) {
    server_stream* const next = line_.pop_front();
    if (next == nullptr) return;
    next->take_turn();
    if (produced_bytes() >= before + produced_per_turn_bytes) break;
  }
  loop_.note_produced(produced_bytes() - std::min(before, produced_bytes()));
  if (!line_.empty() && may_answer()) flush_later();
}

/// One by one, so that as many as the client may ask for at a time are not all before others.
void server_session::begin_in_turn(server_stream& who) noexcept {
  to_begin_.push_back(who);
  if (!std::exchange(beginning_.is_scheduled, true)) loop_.schedule(beginning_);
}

void server_session::on_begin(runnable& self) noexcept {
  server_session& session = static_cast<beginning&>(self).owner;
  const std::size_t before = session.produced_bytes();
  session.beginning_.is_scheduled = false;
  server_stream* const first = session.to_begin_.pop_front();
  if (!session.to_begin_.empty()) {
    session.beginning_.is_scheduled = true;
    session.loop_.schedule(session.beginning_, priority::low);
  }
  first->begin_work();
  const std::size_t now = session.produced_bytes();
  session.loop_.note_produced(now - std::min(before, now));
}

/// Until the client has taken some of what is queued. It is lost if it takes too little.
task<void> server_session::wait_for_room() {
  environment patience{
      .stop = host_.stopping, .until = {}, .runs_on = &loop_, .owner = host_.owner};
  result<void> drained = fail(errc::exhausted);
  try {
    for (;;) {
      const time_point began = loop_.now();
      patience.until = deadline::at(began + pace_.until_look(host_.limits));
      drained = co_await drain_stream().in(patience);
      if (drained) pace_.note_wait(loop_.now() - began);
      if (drained || drained.error() != errc::timed_out || is_over_) break;
      const auto delivered = static_cast<std::int64_t>(given_bytes_ - stream_.untaken_bytes());
      if (pace_.look(delivered, host_.limits)) continue;
      host_.counts.slow_readers.add();
      break;
    }
  } catch (const std::exception& why) {
    log_dropped(why);
    drained = fail(errc::exhausted);
  }
  is_waiting_ = false;
  if (!drained) lose();
  flush_later();
}

task<result<void>> server_session::drain_stream() { co_return co_await stream_.drain(); }

// ---- streams ----------------------------------------------------------------------------------

const connection_peer& server_session::peer() {
  if (!peer_) peer_ = connection_peer::of(stream_.peer_endpoint());
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
  if (--stream_count_ == 0) {
    idle_since_ = loop_.now();
    note_unblocked();
  }
  flush_later();
}

}  // namespace weft::http::http2
