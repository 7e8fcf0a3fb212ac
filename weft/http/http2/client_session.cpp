#include <weft/http/http2/client_session.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <tuple>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/origin_pool.hpp>
#include <weft/http/http2/client_callbacks.hpp>
#include <weft/http/http2/queued_text.hpp>

namespace weft::http::http2 {
namespace {

/// Streams at once, where the server allows more.
constexpr std::uint32_t streams_most = 100;
constexpr std::int32_t connection_window_bytes = 4 * 1024 * 1024;

void expect_success(int outcome) {
  if (outcome == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
}

}  // namespace

client_session::client_session(origin_pool& home, client_core& core, net::tcp_stream stream)
    : lazy_timer{core.loop, timeout_kind},
      flushable{&on_flush},
      stream_receiver{&on_received},
      core_{core},
      home_{home},
      stream_{std::move(stream)},
      heard_at_{core.loop.now()} {
  open();
  core_.count_session(1);
  listen();
}

client_session::~client_session() {
  if (flushable::hook.is_linked()) flushable::hook.unlink();
  core_.count_session(-1);
}

void* client_session::operator new(std::size_t size_bytes) {
  return frame_pool::allocate(size_bytes);
}

void client_session::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

void client_session::open() {
  library_ = client_callbacks::open(*this);
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window_bytes},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                             static_cast<std::uint32_t>(core_.options.head_bytes)}};
  expect_success(
      nghttp2_submit_settings(library_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  expect_success(nghttp2_session_set_local_window_size(library_.get(), NGHTTP2_FLAG_NONE, 0,
                                                       connection_window_bytes));
  flush_later();
}

bool client_session::has_room() const noexcept {
  const std::uint32_t allowed =
      nghttp2_session_get_remote_settings(library_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return !is_leaving_ && held_ < std::min(allowed, streams_most);
}

// ---- in ---------------------------------------------------------------------------------------

void client_session::on_received(net::stream_receiver& self) noexcept {
  auto& session = static_cast<client_session&>(self);
  session.is_reading_ = false;
  if (session.take(session.stream_receiver::take(session.stream_))) session.listen();
  session.flush_later();
}

void client_session::listen() noexcept {
  for (;;) {
    is_reading_ = true;
    if (!stream_receiver::begin(stream_)) return;
    is_reading_ = false;
    if (!take(stream_receiver::take(stream_))) return;
  }
}

/// Whether to go on.
bool client_session::take(result<buffer_ref>&& bytes) noexcept {
  if (is_lost_) return false;
  if (!bytes) {
    lose(is_broken() ? errc::protocol_error : bytes.error());
    return false;
  }
  heard_at_ = loop_.now();
  const std::string_view text = bytes->text();
  const auto taken = nghttp2_session_mem_recv(
      library_.get(), reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  flush_later();
  if (taken == NGHTTP2_ERR_NOMEM) {
    lose(errc::exhausted);
    return false;
  }
  if (taken < 0) nghttp2_session_terminate_session(library_.get(), NGHTTP2_PROTOCOL_ERROR);
  return true;
}

/// Whether the server has broken the protocol. nghttp2 knows once it has said so.
bool client_session::is_broken() noexcept {
  try {
    frame_output();
    return !is_leaving_ && nghttp2_session_want_read(library_.get()) == 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void client_session::take_settings() noexcept {
  if (has_room()) home_.serve_line();
}

void client_session::take_leave() noexcept {
  is_leaving_ = true;
  if (in_origin.is_linked()) in_origin.unlink();
}

void client_session::close(opened_stream& stream, std::uint32_t code) noexcept {
  stream.in_session.unlink();
  stream.id = 0;
  // nghttp2 says so as well of the streams beyond the last one of a GOAWAY.
  const bool is_refused = code == NGHTTP2_REFUSED_STREAM;
  const bool is_ours = code != NGHTTP2_NO_ERROR && !is_refused && !stream.was_reset_by_server;
  stream.take_close({.why = code == NGHTTP2_NO_ERROR ? errc::closed
                            : is_ours                ? errc::protocol_error
                                                     : errc::reset,
                     .code = code,
                     .is_refused = is_refused,
                     .is_ours = is_ours});
}

// ---- out --------------------------------------------------------------------------------------

void client_session::submit(opened_stream& stream, bool has_body) {
  if (is_lost_ || is_leaving_) {
    stream.take_close({.why = errc::reset, .is_refused = true});
    return;
  }
  const nghttp2_data_provider body = client_callbacks::body();
  const std::int32_t id = nghttp2_submit_request(
      library_.get(), nullptr, fields_.data(), fields_.size(), has_body ? &body : nullptr, &stream);
  if (id == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
  if (id < 0) {  // none of the ids is left
    take_leave();
    stream.take_close({.why = errc::reset, .is_refused = true});
    return;
  }
  stream.id = id;
  streams_.push_back(stream);
  flush_later();
}

void client_session::resume(const opened_stream& stream) noexcept {
  if (is_lost_ || stream.id == 0) return;
  nghttp2_session_resume_data(library_.get(), stream.id);
  flush_later();
}

void client_session::consume(const opened_stream& stream, std::size_t size_bytes) noexcept {
  if (is_lost_ || stream.id == 0 || size_bytes == 0) return;
  nghttp2_session_consume_stream(library_.get(), stream.id, size_bytes);
  flush_later();
}

void client_session::doubt(time_point since) noexcept {
  if (heard_at_ <= since) take_leave();
}

void client_session::leave(opened_stream& stream) noexcept {
  if (stream.id == 0) return;
  stream.in_session.unlink();
  const std::int32_t id = std::exchange(stream.id, 0);
  nghttp2_session_set_stream_user_data(library_.get(), id, nullptr);
  nghttp2_submit_rst_stream(library_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  flush_later();
}

void client_session::on_flush(flushable& self) noexcept {
  auto& session = static_cast<client_session&>(self);
  try {
    if (!session.is_lost_) session.frame_output();
  } catch (const std::bad_alloc&) {
    session.lose(errc::exhausted);
  }
  session.settle();
}

bool client_session::is_full() const noexcept {
  return stream_.queued_bytes() > net::tcp_stream::high_watermark;
}

void client_session::frame_output() {
  while (!is_full()) {
    const std::uint8_t* frame = nullptr;
    const auto size = nghttp2_session_mem_send(library_.get(), &frame);
    if (size < 0) throw std::bad_alloc{};
    if (size == 0) break;
    copy_into(stream_, text_of(frame, static_cast<std::size_t>(size)));
  }
  std::ignore = stream_.pump();
  if (!is_full()) {
    // The others have their turn, and then the rest.
    if (nghttp2_session_want_write(library_.get()) != 0) flush_later();
    return;
  }
  if (is_waiting_) return;
  task<void> waiting = wait_for_room();
  is_waiting_ = true;
  core_.workers.spawn(std::move(waiting));
}

/// Until the server has taken some of what is queued. The session is lost if it takes nothing.
task<void> client_session::wait_for_room() {
  environment patience = co_await this_task::environment();
  result<void> drained;
  for (std::size_t before = stream_.queued_bytes();;) {
    patience.until = deadline::at(saturated_sum(loop_.now(), core_.options.timeout));
    drained = co_await drain_stream().in(patience);
    const std::size_t left = stream_.queued_bytes();
    if (drained || drained.error() != errc::timed_out || left >= before) break;
    before = left;
  }
  is_waiting_ = false;
  if (!drained) lose(drained.error());
  flush_later();
}

task<result<void>> client_session::drain_stream() { co_return co_await stream_.drain(); }

// ---- the end ----------------------------------------------------------------------------------

void client_session::release() noexcept {
  --held_;
  if (held_ == 0 && core_.is_stopped) return retire();
  if (held_ == 0) set(saturated_sum(loop_.now(), core_.options.idle_timeout));
  if (has_room()) home_.serve_line();
  if (is_leaving_) flush_later();
}

void client_session::on_timeout(lazy_timer& self) noexcept {
  auto& session = static_cast<client_session&>(self);
  if (session.held_ == 0) session.retire();
}

void client_session::retire() noexcept {
  take_leave();
  if (!is_lost_) nghttp2_session_terminate_session(library_.get(), NGHTTP2_NO_ERROR);
  flush_later();
}

void client_session::lose(error why) noexcept {
  if (std::exchange(is_lost_, true)) return;
  take_leave();
  while (opened_stream* const each = streams_.pop_front()) {
    each->id = 0;
    each->take_close({.why = why});
  }
  flush_later();
}

/// As soon as nobody needs it any more, it ends; each of them comes here last.
void client_session::settle() noexcept {
  const bool says_no_more = is_lost_ || (nghttp2_session_want_read(library_.get()) == 0 &&
                                         nghttp2_session_want_write(library_.get()) == 0);
  if (says_no_more) lose(errc::protocol_error);  // for whoever is left
  if (!(is_lost_ || is_leaving_) || held_ != 0) return;
  lose(errc::closed);
  if (is_reading_) return stream_receiver::cancel(stream_);
  if (is_waiting_) return stream_.give_up_output();
  home_.end_session(*this);
  delete this;
}

}  // namespace weft::http::http2
