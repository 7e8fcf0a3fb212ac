#include <weft/http/http2/server_callbacks.hpp>

#include <algorithm>
#include <new>
#include <string_view>
#include <tuple>

#include <weft/http/connection_host.hpp>
#include <weft/http/http2/field_rules.hpp>
#include <weft/http/http2/queued_text.hpp>
#include <weft/http/http2/server_session.hpp>

namespace weft::http::http2 {
namespace {

/// Fields so far beyond what is allowed are sent to harm: fewer are answered with 431.
constexpr std::size_t bomb_times = 8;
/// What a client may say of the flow of data for each frame of it: of its stream, and of all.
constexpr std::int64_t updates_per_frame = 2;

}  // namespace

nghttp2_session_callbacks* server_callbacks::table() {
  thread_local const callbacks_handle made = [] {
    callbacks_handle all = make_callbacks();
    nghttp2_session_callbacks_set_on_begin_headers_callback(all.get(), &on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(all.get(), &on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all.get(), &on_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(all.get(), &on_invalid_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all.get(), &on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(all.get(), &on_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(all.get(), &on_sent);
    nghttp2_session_callbacks_set_send_data_callback(all.get(), &on_send_data);
    return all;
  }();
  return made.get();
}

session_handle server_callbacks::open(server_session& session) {
  const option_handle options = make_options();
  nghttp2_option_set_no_auto_window_update(options.get(), 1);
  // Of clients that do not say that they know better (RFC 9218 section 2.1.1).
  nghttp2_option_set_server_fallback_rfc7540_priorities(options.get(), 1);
  // What a message may say is judged here (field_rules.hpp, request_text.hpp), and by the parser.
  nghttp2_option_set_no_http_messaging(options.get(), 1);
  nghttp2_option_set_no_closed_streams(options.get(), 1);
  // http2_limits::resets_per_second has that.
  nghttp2_option_set_stream_reset_rate_limit(options.get(), UINT64_MAX, 0);
  nghttp2_session* made = nullptr;
  if (nghttp2_session_server_new3(&made, table(), &session, options.get(), pooled_memory()) != 0)
    throw std::bad_alloc{};
  return session_handle{made};
}

nghttp2_data_provider server_callbacks::body_of(server_stream* stream) noexcept {
  return {.source = {.ptr = stream}, .read_callback = &on_read};
}

server_stream* server_callbacks::stream_of(nghttp2_session* library, std::int32_t id) noexcept {
  return static_cast<server_stream*>(nghttp2_session_get_stream_user_data(library, id));
}

int server_callbacks::on_begin_headers(nghttp2_session* library, const nghttp2_frame* frame,
                                       void* self) noexcept {
  return guarded([&] {
    auto& session = *static_cast<server_session*>(self);
    session.trailer_bytes_ = 0;
    session.trailers_are_malformed_ = false;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      begin_request(session, library, frame->hd.stream_id);
    return 0;
  });
}

void server_callbacks::begin_request(server_session& session, nghttp2_session* library,
                                     std::int32_t id) {
  session.head_.clear();
  session.headed_ = nullptr;
  // Who is told that this leaves asks again for what is behind the last stream that was begun.
  // Those whose clients have gone, but not yet their handlers, count as well.
  if (session.is_leaving_ ||
      session.stream_count_ >= 2 * session.host_.limits.http2.concurrent_streams) {
    session.submit_reset(id, NGHTTP2_REFUSED_STREAM);
    return;
  }
  auto* const stream = new server_stream{session, id};
  session.streams_.push_back(*stream);
  ++session.stream_count_;
  session.headed_ = stream;
  nghttp2_session_set_stream_user_data(library, id, stream);
}

int server_callbacks::on_header(nghttp2_session* /*library*/, const nghttp2_frame* frame,
                                const std::uint8_t* name, std::size_t name_bytes,
                                const std::uint8_t* value, std::size_t value_bytes,
                                std::uint8_t /*flags*/, void* self) noexcept {
  return guarded([&] {
    auto& session = *static_cast<server_session*>(self);
    const std::string_view its_name = text_of(name, name_bytes);
    const std::string_view its_value = text_of(value, value_bytes);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
      return note_trailer(session, frame->hd.stream_id, its_name, its_value);
    if (session.headed_ == nullptr) return 0;
    session.head_.add(its_name, its_value);
    if (session.head_.list_bytes() <= bomb_times * session.host_.limits.head_bytes) return 0;
    session.cut_offender(http2_offence::header_bomb);
    return static_cast<int>(NGHTTP2_ERR_CALLBACK_FAILURE);
  });
}

/// They are passed over.
int server_callbacks::note_trailer(server_session& session, std::int32_t id, std::string_view name,
                                   std::string_view value) {
  session.trailers_are_malformed_ |= !may_stand(name, value);
  session.trailer_bytes_ += name.size() + value.size();
  if (session.trailer_bytes_ <= session.host_.limits.trailer_bytes) return 0;
  session.submit_reset(id, NGHTTP2_ENHANCE_YOUR_CALM);
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int server_callbacks::on_frame(nghttp2_session* library, const nghttp2_frame* frame,
                               void* self) noexcept {
  return guarded([&] {
    auto& session = *static_cast<server_session*>(self);
    if (frame->hd.type == NGHTTP2_DATA) return note_data(session, library, *frame);
    if (frame->hd.type == NGHTTP2_HEADERS) {
      end_headers(session, library, *frame);
      return 0;
    }
    return session.allows(session.idle_frames_, http2_offence::idle_frames)
               ? 0
               : static_cast<int>(NGHTTP2_ERR_CALLBACK_FAILURE);
  });
}

/// Streams beyond the limit among them, which nghttp2 refuses by itself.
int server_callbacks::on_invalid_frame(nghttp2_session* library, const nghttp2_frame* frame,
                                       int /*why*/, void* self) noexcept {
  auto& session = *static_cast<server_session*>(self);
  session.closed_ids_.note_reset(session.loop_.now());               // before its body comes
  if (stream_of(library, frame->hd.stream_id) != nullptr) return 0;  // it counts as it closes
  return session.allows(session.resets_, http2_offence::resets)
             ? 0
             : static_cast<int>(NGHTTP2_ERR_CALLBACK_FAILURE);
}

void server_callbacks::end_headers(server_session& session, nghttp2_session* library,
                                   const nghttp2_frame& frame) {
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    if (session.headed_ != nullptr) session.headed_->take_head(ends);
    session.head_.release();
    return;
  }
  server_stream* const stream = stream_of(library, frame.hd.stream_id);
  if (stream == nullptr) return;
  if (!ends || session.trailers_are_malformed_)
    session.submit_reset(frame.hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
  else
    stream->take_end();
}

int server_callbacks::note_data(server_session& session, nghttp2_session* library,
                                const nghttp2_frame& frame) {
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    server_stream* const stream = stream_of(library, frame.hd.stream_id);
    if (stream != nullptr) stream->take_end();
    return 0;
  }
  if (frame.hd.length > frame.data.padlen) return 0;
  return session.allows(session.idle_frames_, http2_offence::idle_frames)
             ? 0
             : static_cast<int>(NGHTTP2_ERR_CALLBACK_FAILURE);
}

int server_callbacks::on_data(nghttp2_session* library, std::uint8_t /*flags*/, std::int32_t id,
                              const std::uint8_t* data, std::size_t size, void* self) noexcept {
  return guarded([&] {
    server_stream* const stream = stream_of(library, id);
    if (stream != nullptr)
      stream->take_data(text_of(data, size));
    else
      static_cast<server_session*>(self)->consume(id, size);
    return 0;
  });
}

int server_callbacks::on_close(nghttp2_session* library, std::int32_t id, std::uint32_t /*code*/,
                               void* self) noexcept {
  auto& session = *static_cast<server_session*>(self);
  server_stream* const stream = stream_of(library, id);
  if (stream == nullptr) return 0;
  const bool is_early = !stream->is_answered();
  stream->take_close();
  if (is_early) std::ignore = session.allows(session.resets_, http2_offence::resets);
  return 0;
}

int server_callbacks::on_sent(nghttp2_session* library, const nghttp2_frame* frame,
                              void* self) noexcept {
  auto& session = *static_cast<server_session*>(self);
  if (frame->hd.type == NGHTTP2_RST_STREAM) session.closed_ids_.note_reset(session.loop_.now());
  const bool is_message = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
  if (!is_message || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  server_stream* const stream = stream_of(library, frame->hd.stream_id);
  if (stream == nullptr) return 0;
  stream->note_answered();
  // Who has its whole reply need not send the rest (RFC 9113 section 8.1).
  // Who is spoken with does so in his own time.
  if (!stream->has_come_whole() && !stream->is_spoken_over())
    nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
  return 0;
}

ssize_t server_callbacks::on_read(nghttp2_session* /*library*/, std::int32_t /*id*/,
                                  std::uint8_t* /*into*/, std::size_t most_bytes,
                                  std::uint32_t* flags, nghttp2_data_source* source,
                                  void* /*self*/) noexcept {
  auto& stream = *static_cast<server_stream*>(source->ptr);
  const std::size_t queued = stream.queued_bytes();
  if (queued == 0 && !stream.gives_no_more()) {
    stream.wait_for_more();
    return NGHTTP2_ERR_DEFERRED;
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (queued <= most_bytes && stream.gives_no_more()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(std::min(queued, most_bytes));
}

int server_callbacks::on_send_data(nghttp2_session* /*library*/, nghttp2_frame* /*frame*/,
                                   const std::uint8_t* frame_start, std::size_t size,
                                   nghttp2_data_source* source, void* self) noexcept {
  return guarded([&] {
    auto& session = *static_cast<server_session*>(self);
    if (session.stream_.queued_bytes() > net::tcp_stream::high_watermark)
      return static_cast<int>(NGHTTP2_ERR_WOULDBLOCK);
    copy_into(session.stream_, text_of(frame_start, frame_head::size_bytes));
    static_cast<server_stream*>(source->ptr)->send(size, session.stream_);
    session.idle_frames_.give(updates_per_frame);
    return 0;
  });
}

}  // namespace weft::http::http2
