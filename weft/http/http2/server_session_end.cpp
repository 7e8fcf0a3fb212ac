// How connections that speak HTTP/2 end: told that this is the end, cut, lost, or too late.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/http/send_pace.hpp>

namespace weft::http::http2 {
namespace {

/// As for connections of HTTP/1.1: how long, and how much, a client that has been told the end may
/// go on sending.
constexpr duration linger_time = std::chrono::seconds{2};
constexpr duration drain_linger_time = std::chrono::milliseconds{500};
constexpr std::size_t linger_bytes = 256 * 1024;

}  // namespace

void server_session::prepare_to_leave() noexcept {
  if (!may_send() || is_leaving_ || std::exchange(is_warned_, true)) return;
  send_goaway(INT32_MAX, NGHTTP2_NO_ERROR);
  flush_later();
}

void server_session::leave_if_idle() noexcept {
  if (answered_ == 0 && stream_count_ == 0 && stream_.has_input()) return;
  leave();
}

void server_session::leave() noexcept {
  if (!may_send() || std::exchange(is_leaving_, true)) return;
  send_goaway(closed_ids_.last(), NGHTTP2_NO_ERROR);
  flush_later();
}

/// Handlers have been asked to stop, and may still reply.
void server_session::cut() noexcept {
  leave();
  is_cut_ = true;
  cut_streams();
  input_ended_ = true;
  stream_receiver::cancel(stream_);
  flush_later();
}

/// What handlers leave behind has until the next time.
void server_session::cut_streams() noexcept {
  look_at_ = loop_.now() + drain_linger_time;
  for (server_stream& each : streams_)
    if (!each.is_worked_for()) each.reset(NGHTTP2_CANCEL);
}

std::string server_session::description() const {
  const auto peer = stream_.peer_endpoint();
  return weft::format("{} has {} request{} under way over HTTP/2",
                      peer ? peer->to_string() : "a client", stream_count_,
                      stream_count_ == 1 ? "" : "s");
}

void server_session::on_timeout(lazy_timer& self) noexcept {
  auto& session = static_cast<server_session&>(self);
  const time_point now = session.loop_.now();
  if (session.is_lost_ || session.is_over_) return;
  if (session.head_due_ <= now) {
    session.head_due_ = time_point::max();
    session.cut_offender(http2_offence::slow_head);
  } else if (session.look_at_ <= now && session.is_cut_) {
    session.cut_streams();
  } else if (session.look_at_ <= now) {
    session.look_for_stalled();
  } else if (session.stream_count_ == 0) {
    session.leave();
  }
  session.flush_later();
}

/// Who asks for replies and does not take them keeps their memory.
void server_session::look_for_stalled() {
  look_at_ = time_point::max();
  const std::size_t least = least_taken(host_.limits);
  takes_enough_ = std::exchange(framed_bytes_, 0) >= least;
  for (server_stream& each : streams_) {
    if (!each.has_stalled(least)) continue;
    host_.counts.http2_stalled.add();
    host_.counts.slow_readers.add();
    each.reset(NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

void server_session::set_deadline() noexcept {
  if (stream_count_ == 0) {
    look_at_ = time_point::max();
    const bool is_first = answered_ == 0;
    const duration longest =
        is_first ? host_.limits.header_timeout : host_.limits.keep_alive_timeout;
    set(std::min(idle_since_ + longest, head_due_));
    return;
  }
  if (look_at_ == time_point::max()) look_at_ = loop_.now() + host_.limits.write_stall_timeout;
  set(std::min(head_due_, look_at_));
}

void server_session::lose() noexcept {
  if (std::exchange(is_lost_, true)) return;
  input_ended_ = true;
  close_streams();
  flush_later();
}

void server_session::close_streams() noexcept {
  decltype(streams_) all;
  all.splice_back(streams_);
  while (server_stream* const each = all.pop_front()) {
    streams_.push_back(*each);
    close(*each);
  }
}

bool server_session::is_done() const noexcept {
  if (is_lost_ || is_terminated_ || (input_ended_ && stream_count_ == 0)) return true;
  return (is_leaving_ || client_goodbye_ != INT32_MAX) && open_.size() == 0;
}

void server_session::settle() noexcept {
  if (!is_over_ && is_done()) {
    if (!input_ended_) leave();  // the client has said so first, and is to know what was answered
    is_over_ = true;
    close_streams();
  }
  if (is_over_)
    end();
  else
    set_deadline();
}

/// As soon as nobody needs this any more; each of them comes here when it has ended.
void server_session::end() noexcept {
  if (is_reading_) {
    stream_receiver::cancel(stream_);
    return;
  }
  if (is_lost_ && is_waiting_) stream_.give_up_output();
  if (stream_count_ != 0 || is_waiting_) return;
  if (is_lost_ || std::exchange(has_lingered_, true)) {
    delete this;
    return;
  }
  try {
    task<void> rest = linger();
    is_waiting_ = true;
    host_.workers.spawn(std::move(rest));
  } catch (const std::exception&) {
    delete this;
  }
}

/// Closing with bytes unread makes the kernel reset the connection, and the client may never see
/// what it was told last.
task<void> server_session::linger() {
  const bool drains = host_.draining.stop_requested();
  const duration longest = drains ? drain_linger_time : linger_time;
  const environment patience{.stop = host_.stopping,
                             .until = deadline::at(loop_.now() + longest),
                             .runs_on = &loop_,
                             .owner = host_.owner};
  try {
    if (co_await stream_.shutdown().in(patience)) co_await drop_input().in(patience);
  } catch (const std::exception& why) {
    log_dropped(why);
  }
  is_waiting_ = false;
  flush_later();
}

task<void> server_session::drop_input() {
  for (std::size_t dropped = 0; dropped < linger_bytes;) {
    const auto bytes = co_await stream_.read();
    if (!bytes) co_return;
    dropped += bytes->size();
  }
}

}  // namespace weft::http::http2
