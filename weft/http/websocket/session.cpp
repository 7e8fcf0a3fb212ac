// What comes over a WebSocket, and when nothing does.
#include <weft/http/websocket/session.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <source_location>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/running_task.hpp>
#include <weft/http/send_pace.hpp>
#include <weft/http/websocket/shared_codecs.hpp>

namespace weft::http::ws {
namespace {

/// What may still come while a connection ends.
constexpr std::size_t dropped_most_bytes = 256 * 1024;
constexpr duration pong_again_after = std::chrono::milliseconds{100};
/// What a reader is given at a time, though more has come: a message counts as so many bytes beside
/// its own, for whatever is done with it.
constexpr std::size_t given_most_bytes = 64 * 1024;
constexpr std::size_t around_message_bytes = 1024;

using direction = deflate_parameters::direction;

direction sent_by(role self, const deflate_parameters& agreed) noexcept {
  return self == role::server ? agreed.of_server() : agreed.of_client();
}

direction received_by(role self, const deflate_parameters& agreed) noexcept {
  return sent_by(self == role::server ? role::client : role::server, agreed);
}

std::unique_ptr<message_inflater> make_inflater(const session_terms& terms) {
  if (!terms.deflate) return nullptr;
  const direction how = received_by(terms.self, *terms.deflate);
  return how.keeps_context ? std::make_unique<message_inflater>(how.window_bits, true) : nullptr;
}

std::unique_ptr<message_deflater> make_deflater(const session_terms& terms) {
  if (!terms.deflate) return nullptr;
  const direction how = sent_by(terms.self, *terms.deflate);
  return how.keeps_context ? std::make_unique<message_deflater>(how.window_bits, true) : nullptr;
}

message_inflater* inflater_for(const session_terms& terms, message_inflater* own) noexcept {
  if (!terms.deflate) return nullptr;
  return own != nullptr ? own : &shared_codecs::of_this_thread().inflater();
}

message_deflater* deflater_for(const session_terms& terms, message_deflater* own) {
  if (!terms.deflate) return nullptr;
  if (own != nullptr) return own;
  const int bits = sent_by(terms.self, *terms.deflate).window_bits;
  return &shared_codecs::of_this_thread().deflater(bits);
}

}  // namespace

session::session(const session_terms& terms)
    : stream_receiver{&on_received},
      lazy_timer{terms.loop, timeout_kind},
      flushable{&on_turn_end},
      limits_{terms.limits},
      counts_{terms.counts},
      own_inflater_{make_inflater(terms)},
      own_deflater_{make_deflater(terms)},
      deflater_{deflater_for(terms, own_deflater_.get())},
      reader_{terms.self, terms.limits.message_bytes, terms.loop.buffers(),
              inflater_for(terms, own_inflater_.get())},
      subprotocol_{terms.subprotocol},
      ready_memory_{terms.loop.buffers()},
      lent_memory_{terms.loop.buffers()},
      self_{terms.self} {}

session::~session() {
  if (flushable::hook.is_linked()) flushable::hook.unlink();
  if (begun_) counts_.open.add(-1);
}

void* session::operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }

void session::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

void session::begin(upgraded_link link) noexcept {
  begun_ = true;
  counts_.open.add(1);
  counts_.opened.add();
  link_ = std::move(link);
  quiet_since_ = taken_at_ = loop_.now();
  set_next_look();
  go_on();
}

bool session::receives() const noexcept {
  if (phase_ == phase::over || is_receiving_) return false;
  return phase_ == phase::lingering || !has_ready_;
}

void session::go_on() noexcept {
  try {
    while (receives()) {
      if (phase_ != phase::lingering && !input_.empty()) {
        read_frames();
        continue;
      }
      if (phase_ != phase::lingering) leave_input();
      if (!begin_read()) {
        is_receiving_ = true;
        return;
      }
      take_received(take_read());
    }
  } catch (const std::exception& why) {  // out of memory: this one's misfortune alone
    log::error(weft::format("a WebSocket is dropped: {}", why.what()));
    abort(errc::exhausted, {close_code::abnormal, "out of memory"});
  }
}

/// All that stood in it has been read by this; somebody else may look at a part of it still.
void session::leave_input() noexcept {
  if (std::exchange(lent_is_in_input_, false)) lent_memory_.hold(std::move(input_));
  input_.reset();
}

void session::end_if_over() noexcept {
  if (phase_ != phase::over || is_receiving_ || senders_ != 0) return;
  link_.reset();
  if (is_released_) on_over();
}

void session::on_received(net::stream_receiver& self) noexcept {
  weft::detail::running.resumed_at.store(std::source_location::current(),
                                         std::memory_order_relaxed);
  auto& mine = static_cast<session&>(self);
  mine.is_receiving_ = false;
  auto bytes = mine.take_read();
  if (mine.phase_ != phase::over) {
    mine.take_received(std::move(bytes));
    mine.go_on();
  }
  mine.end_if_over();
}

bool session::begin_read() noexcept {
  if (net::tcp_stream* const direct = link_.connection()) return stream_receiver::begin(*direct);
  return link_.through().begin_read(&on_received, *this);
}

result<buffer_ref> session::take_read() noexcept {
  if (net::tcp_stream* const direct = link_.connection()) return stream_receiver::take(*direct);
  return link_.through().take_read();
}

void session::cancel_read() noexcept {
  if (net::tcp_stream* const direct = link_.connection()) return stream_receiver::cancel(*direct);
  link_.through().cancel_read();
}

void session::take_received(result<buffer_ref>&& bytes) {
  if (!bytes) {
    if (phase_ == phase::lingering) return abort(errc::closed, {});
    return lose(bytes.error() == errc::closed ? "ended without a close frame" : "broken");
  }
  note_life();
  if (phase_ != phase::lingering) {
    input_ = std::move(*bytes);
    return;
  }
  dropped_bytes_ += bytes->size();
  if (dropped_bytes_ > dropped_most_bytes) abort(errc::closed, {});
}

/// Up to the next message, the end, or the end of what has come.
void session::read_frames() {
  while (phase_ < phase::lingering && !has_ready_ && !input_.empty()) {
    const read_progress step = reader_.next({input_.data(), input_.size()});
    input_.remove_prefix(step.consumed_bytes);
    switch (step.what) {
      case read_event::nothing: return;
      case read_event::message: keep_message(); break;
      case read_event::ping: answer_ping(reader_.control()); break;
      case read_event::pong: break;
      case read_event::close: return on_close_frame();
      case read_event::failed: return fail_connection(reader_.fault());
    }
  }
}

void session::keep_message() {
  ready_ = reader_.message();
  counts_.messages_received.add();
  counts_.bytes_received.add(ready_.data.size());
  if (!reader_.take_message(ready_memory_)) {
    if (input_.empty() && !lent_is_in_input_)
      ready_memory_.hold(std::move(input_));
    else
      ready_is_in_input_ = true;
  }
  if (discards_) {
    ready_memory_.clear();
    ready_is_in_input_ = false;
    return;
  }
  has_ready_ = true;
  waiters_.wake_all();
}

bool session::look_for_message() noexcept {
  lent_memory_.clear();
  lent_is_in_input_ = false;
  if (!has_ready_) go_on();
  if (has_ready_ && given_ >= given_most_bytes) {
    given_ = 0;
    wakes_reader_ = true;
    loop_.flush_later(*this);
    loop_.note_produced(given_most_bytes);
    return false;
  }
  if (!has_ready_) given_ = 0;
  const bool is_at_end = phase_ >= phase::lingering;
  if (is_at_end && !has_ready_) input_.reset();
  return has_ready_ || is_at_end;
}

result<websocket_message> session::take_message() noexcept {
  if (!has_ready_) return fail(ended_ ? ended_->why : error{errc::closed});
  has_ready_ = false;
  lent_memory_ = std::exchange(ready_memory_, message_memory{loop_.buffers()});
  lent_is_in_input_ = std::exchange(ready_is_in_input_, false);
  given_ += around_message_bytes + ready_.data.size();
  // Pings are answered while it is worked on; but first its reader has his turn, so that what he
  // answers goes before what is wrong with the next frame.
  if (!flushable::hook.is_linked()) loop_.flush_later(*this);
  return ready_;
}

void session::on_turn_end(flushable& self) noexcept {
  auto& mine = static_cast<session&>(self);
  mine.go_on();
  if (std::exchange(mine.wakes_reader_, false)) mine.waiters_.wake_all();
  mine.end_if_over();
}

void session::on_timeout(lazy_timer& self) noexcept {
  auto& mine = static_cast<session&>(self);
  switch (mine.phase_) {
    case phase::open: try { mine.keep_alive();
      } catch (const std::exception&) {
        mine.abort(errc::exhausted, {close_code::abnormal, "out of memory"});
      }
      break;
    case phase::closing: mine.lose("the close frame was not answered"); break;
    case phase::lingering: mine.abort(errc::closed, {}); break;
    case phase::over:
      if (!mine.is_released_) mine.on_overstay();
      break;
  }
  mine.end_if_over();
}

void session::keep_alive() {
  if (late_pong_ != nullptr) answer_ping(*std::exchange(late_pong_, nullptr));
  look_at_output();
  const time_point now = loop_.now();
  if (queued_at_look_ != 0) {  // a ping would wait behind it
    if (now >= saturated_sum(taken_at_, limits_.write_stall_timeout))
      return lose("takes too little of what is sent");
  } else if (!is_receiving_) {  // who has a message waiting here cannot be heard
    note_life();
  } else if (now >= quiet_until()) {
    if (ping_is_out_) return lose("no pong has come");
    append_control(opcode::ping, {});
    ping_is_out_ = true;
    quiet_since_ = now;
  }
  set_next_look();
}

void session::note_life() noexcept {
  quiet_since_ = loop_.now();
  ping_is_out_ = false;
}

/// Whether what waits to be sent is taken; who has taken it all lives, whatever he has to say.
void session::look_at_output() noexcept {
  const std::size_t queued = link_.queued_bytes();
  const std::size_t before = queued_at_look_;
  const std::size_t taken = before + queued_since_look_ - queued;
  const std::size_t least = least_taken(limits_.write_stall_timeout, limits_.send_bytes_per_second);
  if (taken < std::min(before, least)) return;  // so far
  taken_at_ = loop_.now();
  queued_at_look_ = queued;
  queued_since_look_ = 0;
  if (before != 0 && queued == 0) note_life();
}

time_point session::quiet_until() const noexcept {
  return saturated_sum(quiet_since_, ping_is_out_ ? limits_.pong_timeout : limits_.ping_interval);
}

void session::set_next_look() noexcept {
  time_point next = saturated_sum(taken_at_, limits_.write_stall_timeout);
  if (queued_at_look_ == 0) next = std::min(next, quiet_until());
  if (late_pong_ != nullptr) next = std::min(next, loop_.now() + pong_again_after);
  set(next);
}

/// Who sends pings and takes no pongs must not fill our memory: the last one is answered, once
/// there is room (RFC 6455 section 5.5.3).
void session::answer_ping(std::string_view payload) {
  if (phase_ != phase::open) return;
  if (link_.queued_bytes() <= net::tcp_stream::high_watermark) {
    late_pong_.reset();
    return append_control(opcode::pong, payload);
  }
  if (late_pong_ == nullptr) late_pong_ = std::make_unique<std::string>();
  late_pong_->assign(payload);
  set(std::min(deadline(), loop_.now() + pong_again_after));
}

}  // namespace weft::http::ws
