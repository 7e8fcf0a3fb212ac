#include <weft/http/http2/server_tunnel.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include <weft/http/http2/queued_text.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/http2/server_stream.hpp>

namespace weft::http::http2 {

server_tunnel::server_tunnel(server_stream& stream) noexcept
    : runnable{&on_turn}, stream_{stream} {}

server_tunnel::~server_tunnel() { stream_.leave_tunnel(); }

bool server_tunnel::has_input() const noexcept {
  return !stream_.in_.empty() || stream_.in_ended_ || stream_.is_closed_;
}

bool server_tunnel::begin_read(answer_function on_answer, net::stream_receiver& who) noexcept {
  if (has_input()) return true;
  on_answer_ = on_answer;
  who_ = &who;
  return false;
}

void server_tunnel::note_input() noexcept {
  if (who_ == nullptr || std::exchange(is_queued_, true)) return;
  stream_.loop_.schedule(*this);
}

void server_tunnel::on_turn(runnable& self) noexcept {
  auto& mine = static_cast<server_tunnel&>(self);
  mine.is_queued_ = false;
  mine.on_answer_(*std::exchange(mine.who_, nullptr));
}

void server_tunnel::cancel_read() noexcept {
  if (who_ == nullptr) return;
  is_cancelled_ = true;
  note_input();
}

result<buffer_ref> server_tunnel::take_read() noexcept {
  const bool is_cancelled = std::exchange(is_cancelled_, false);
  if (stream_.in_.empty()) {
    if (is_cancelled) return fail(errc::cancelled);
    return fail(stream_.in_ended_ ? errc::closed : errc::reset);
  }
  buffer_ref bytes = stream_.loop_.buffers().acquire();
  if (!bytes) return fail(errc::exhausted);
  const std::string_view come = first_piece(stream_.in_).substr(0, bytes.capacity());
  std::memcpy(bytes.data(), come.data(), come.size());
  bytes.resize(come.size());
  stream_.in_.consume(come.size());
  try {
    stream_.give_window_back(bytes.size());
  } catch (const std::exception&) {
    return fail(errc::exhausted);
  }
  return bytes;
}

net::write_queue& server_tunnel::output() noexcept { return stream_.out_; }

const net::write_queue& server_tunnel::output() const noexcept { return stream_.out_; }

void server_tunnel::send_later() {
  if (stream_.is_closed_)
    stream_.out_.clear();
  else
    stream_.go_on_sending();
}

task<result<void>> server_tunnel::drain() {
  if (stream_.out_.size() <= net::tcp_stream::high_watermark) co_return result<void>{};
  while (!stream_.is_closed_ && !gives_up_ &&
         stream_.out_.size() > net::tcp_stream::low_watermark) {
    stream_.has_room_.reset();
    if (const auto waited = co_await stream_.has_room_.wait(); !waited) co_return waited;
  }
  if (gives_up_) co_return fail(errc::cancelled);
  if (stream_.is_closed_) co_return fail(errc::reset);
  co_return result<void>{};
}

void server_tunnel::end_output() noexcept {
  stream_.out_ends_ = true;
  if (stream_.is_closed_) return;
  try {
    stream_.go_on_sending();
  } catch (const std::exception&) {
    stream_.reset(NGHTTP2_INTERNAL_ERROR);
  }
}

void server_tunnel::give_up_output() noexcept {
  gives_up_ = true;
  stream_.reset(NGHTTP2_CANCEL);
  stream_.has_room_.set();
}

result<net::endpoint> server_tunnel::peer_endpoint() const {
  return stream_.session_.peer_endpoint();
}

const net::tls_info* server_tunnel::tls() const noexcept { return stream_.tls(); }

}  // namespace weft::http::http2
