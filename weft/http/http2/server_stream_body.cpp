// How bodies come and go over a stream of HTTP/2, and the replies that they belong to.
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/queued_text.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/http2/server_stream.hpp>
#include <weft/http/http2/server_tunnel.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/loop/shared_text.hpp>

namespace weft::http::http2 {

task<bool> server_stream::ask_for_body() {
  if (is_closed_) co_return false;
  session_.send_continue(*this);
  co_return true;
}

void server_stream::give_window_back(std::size_t size_bytes) {
  if (owed_ == 0) return;
  owed_ -= size_bytes;
  session_.consume(*this, size_bytes);
}

task<result<std::string_view>> server_stream::receive_body(buffer_ref& /*slot*/) {
  if (given_ != 0) {
    in_.consume(given_);
    give_window_back(std::exchange(given_, 0));
  }
  while (in_.empty() && !in_ended_ && !is_closed_) {
    has_come_.reset();
    if (const auto waited = co_await has_come_.wait(); !waited) co_return fail(waited.error());
  }
  if (in_.empty() && !in_ended_) co_return fail(errc::reset);
  const std::string_view piece = first_piece(in_);
  given_ = piece.size();
  co_return piece;
}

void server_stream::send_reply(const reply_head& head, std::string_view body,
                               const body_memory* memory) {
  if (refuses_tunnel(head.code)) return;
  if (session_.send_whole(*this, head, body)) [[likely]] {
    out_ends_ = true;
    return;
  }
  send_head(head, body.empty());
  if (body.empty()) return;
  const std::size_t size_bytes = body.size();
  if (is_closed_ || is_ending()) return;
  if (memory != nullptr && memory->shared != nullptr)
    out_.append(*memory->shared);
  else if (memory != nullptr && size_bytes > piece_bytes)
    out_.append(std::move(*memory->owned));
  else
    append_in_pieces(out_, body);
  whole_ = size_bytes;
  count_self();
  session_.note_queued(size_bytes);
  out_ends_ = true;
  session_.send_soon(*this);
}

void server_stream::send_head(const reply_head& head, bool ends) {
  if (is_closed_) {
    out_ends_ = true;  // nobody is there
    return;
  }
  if (head.code == status::switching_protocols) return open_tunnel(head);
  if (refuses_tunnel(head.code)) return;
  out_ends_ = ends;
  if (const std::size_t size = head.fields.size(); size > fields_most_bytes) [[unlikely]] {
    log::error(weft::format("a reply is not sent: its fields have {} bytes, over HTTP/2 {} at most",
                            size, fields_most_bytes));
    reset(NGHTTP2_INTERNAL_ERROR);
    return;
  }
  session_.send_head(*this, head, ends);
}

void server_stream::append_body(std::string_view piece, body_framing /*framing*/) {
  if (is_closed_ || out_ends_) return;
  append_in_pieces(out_, piece);
  go_on_sending();
}

void server_stream::append_body(std::string&& piece, body_framing /*framing*/) {
  if (is_closed_ || out_ends_) return;
  if (piece.size() <= piece_bytes)
    append_in_pieces(out_, piece);
  else
    out_.append(std::move(piece));
  go_on_sending();
}

void server_stream::end_body(body_framing /*framing*/) {
  out_ends_ = true;
  if (!is_closed_) go_on_sending();
}

void server_stream::go_on_sending() { session_.send_soon(*this); }

void server_stream::send(std::size_t size_bytes, net::tcp_stream& connection) {
  if (whole_ != 0) {
    whole_ -= size_bytes;
    session_.note_sent(size_bytes);
  }
  while (size_bytes != 0) {
    const std::string_view piece = first_piece(out_).substr(0, size_bytes);
    copy_into(connection, piece);
    out_.consume(piece.size());
    size_bytes -= piece.size();
  }
  if (out_.size() <= net::tcp_stream::low_watermark) has_room_.set();
}

task<result<void>> server_stream::drain(bool /*empty*/) {
  while (!is_closed_ && out_.size() > net::tcp_stream::low_watermark) {
    has_room_.reset();
    if (const auto waited = co_await has_room_.wait(); !waited) co_return waited;
  }
  if (is_closed_) co_return fail(errc::reset);
  co_return result<void>{};
}

std::size_t server_stream::send_from(const file& /*from*/, std::uint64_t /*offset*/,
                                     std::size_t /*size_bytes*/) noexcept {
  return 0;  // what is framed goes through memory
}

// ---- as a tunnel ------------------------------------------------------------------------------

/// What HTTP/1.1 says by 101 is a success here (RFC 8441 section 5).
void server_stream::open_tunnel(const reply_head& head) {
  session_.send_head(*this,
                     {.code = status::ok,
                      .start = head.start,
                      .framing = body_framing::chunked,
                      .fields = head.fields},
                     false);
}

bool server_stream::refuses_tunnel(status code) {
  const bool is_success = std::to_underlying(code) / 100 == 2;
  if (!asks_for_tunnel_ || !is_success) return false;
  refuse(status::not_implemented, "this path opens no tunnel");
  return true;
}

void server_stream::hand_over(std::unique_ptr<upgraded> to) {
  if (is_closed_) return drop_input();
  auto through = std::make_unique<server_tunnel>(*this);
  tunnel_ = through.get();
  upgraded::begin(std::move(to), upgraded_link{std::move(through)});
}

void server_stream::leave_tunnel() noexcept {
  tunnel_ = nullptr;
  drop_input();
  if (is_closed_) {
    if (!is_worked_for_) delete this;
    return;
  }
  in_.clear();
  if (!out_ends_)
    reset(NGHTTP2_CANCEL);
  else if (is_answered_)
    session_.end_stream(*this, NGHTTP2_NO_ERROR);
}

bool server_stream::has_stalled(std::size_t least_bytes) noexcept {
  const std::size_t before = std::exchange(queued_at_look_, out_.size());
  if (out_.empty() || is_worked_for() || before == 0 || waits_for_others()) return false;
  return out_.size() + least_bytes > before;
}

/// For the connection, whose client takes enough of all its streams together: or it is cut itself.
bool server_stream::waits_for_others() const noexcept {
  return in_ready.is_linked() && session_.goes_on();
}

}  // namespace weft::http::http2
