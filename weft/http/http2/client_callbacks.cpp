#include <weft/http/http2/client_callbacks.hpp>

#include <algorithm>
#include <new>

#include <weft/http/http2/client_session.hpp>
#include <weft/http/http2/field_rules.hpp>
#include <weft/http/http2/frame.hpp>
#include <weft/http/http2/opened_stream.hpp>
#include <weft/http/http2/queued_text.hpp>

namespace weft::http::http2 {
nghttp2_session_callbacks* client_callbacks::table() {
  // Kept for good: sessions of any thread may outlive whatever ends it.
  static nghttp2_session_callbacks* const made = [] {
    callbacks_handle all = make_callbacks();
    nghttp2_session_callbacks_set_on_header_callback(all.get(), &on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(all.get(), &on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all.get(), &on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all.get(), &on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(all.get(), &on_close);
    nghttp2_session_callbacks_set_send_data_callback(all.get(), &on_send_data);
    return all.release();
  }();
  return made;
}

session_handle client_callbacks::open(client_session& session) {
  const option_handle options = make_options();
  nghttp2_option_set_no_auto_window_update(options.get(), 1);
  nghttp2_option_set_no_closed_streams(options.get(), 1);
  nghttp2_session* made = nullptr;
  if (nghttp2_session_client_new3(&made, table(), &session, options.get(), pooled_memory()) != 0)
    throw std::bad_alloc{};
  return session_handle{made};
}

nghttp2_data_provider client_callbacks::body() noexcept {
  return {.source = {.ptr = nullptr}, .read_callback = &on_read};
}

opened_stream* client_callbacks::stream_of(nghttp2_session* library, std::int32_t id) noexcept {
  return static_cast<opened_stream*>(nghttp2_session_get_stream_user_data(library, id));
}

int client_callbacks::on_header(nghttp2_session* library, const nghttp2_frame* frame,
                                const std::uint8_t* name, std::size_t name_bytes,
                                const std::uint8_t* value, std::size_t value_bytes,
                                std::uint8_t /*flags*/, void* /*self*/) noexcept {
  return guarded([&] {
    if (opened_stream* const stream = stream_of(library, frame->hd.stream_id))
      stream->take_field(text_of(name, name_bytes), text_of(value, value_bytes));
    return 0;
  });
}

/// What nghttp2 passes over: spaces around a value harm nobody, but what would be another line to a
/// reader of HTTP/1.1 makes the response malformed (RFC 9113 section 8.2.1), trailers included.
int client_callbacks::on_invalid_header(nghttp2_session* /*library*/,
                                        const nghttp2_frame* /*frame*/, const std::uint8_t* name,
                                        std::size_t name_bytes, const std::uint8_t* value,
                                        std::size_t value_bytes, std::uint8_t /*flags*/,
                                        void* /*self*/) noexcept {
  const bool is_line =
      is_field_value(text_of(name, name_bytes)) && is_field_value(text_of(value, value_bytes));
  return is_line ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int client_callbacks::on_frame(nghttp2_session* library, const nghttp2_frame* frame,
                               void* self) noexcept {
  if (frame->hd.type == NGHTTP2_GOAWAY) static_cast<client_session*>(self)->take_leave();
  if (frame->hd.type == NGHTTP2_SETTINGS) static_cast<client_session*>(self)->take_settings();
  const bool is_of_stream = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA ||
                            frame->hd.type == NGHTTP2_RST_STREAM;
  if (!is_of_stream) return 0;
  opened_stream* const stream = stream_of(library, frame->hd.stream_id);
  if (stream == nullptr) return 0;
  if (frame->hd.type == NGHTTP2_RST_STREAM) {
    stream->was_reset_by_server = true;
    return 0;
  }
  return guarded([&] {
    if (frame->hd.type == NGHTTP2_HEADERS) stream->take_fields_end();
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->take_end();
    return 0;
  });
}

int client_callbacks::on_data(nghttp2_session* library, std::uint8_t /*flags*/, std::int32_t id,
                              const std::uint8_t* data, std::size_t size, void* /*self*/) noexcept {
  nghttp2_session_consume_connection(library, size);
  return guarded([&] {
    if (opened_stream* const stream = stream_of(library, id))
      stream->take_data(text_of(data, size));
    return 0;
  });
}

int client_callbacks::on_close(nghttp2_session* library, std::int32_t id, std::uint32_t code,
                               void* self) noexcept {
  opened_stream* const stream = stream_of(library, id);
  if (stream == nullptr) return 0;
  nghttp2_session_set_stream_user_data(library, id, nullptr);
  static_cast<client_session*>(self)->close(*stream, code);
  return 0;
}

ssize_t client_callbacks::on_read(nghttp2_session* library, std::int32_t id, std::uint8_t* /*into*/,
                                  std::size_t most_bytes, std::uint32_t* flags,
                                  nghttp2_data_source* /*source*/, void* /*self*/) noexcept {
  const opened_stream* const stream = stream_of(library, id);
  if (stream == nullptr) return NGHTTP2_ERR_DEFERRED;  // until its reset leaves
  const std::size_t size = stream->unsent().size();
  if (size == 0 && !stream->gives_no_more()) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (size <= most_bytes && stream->gives_no_more()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(std::min(size, most_bytes));
}

int client_callbacks::on_send_data(nghttp2_session* library, nghttp2_frame* frame,
                                   const std::uint8_t* frame_start, std::size_t size,
                                   nghttp2_data_source* /*source*/, void* self) noexcept {
  auto& session = *static_cast<client_session*>(self);
  if (session.is_full()) return NGHTTP2_ERR_WOULDBLOCK;
  opened_stream* const stream = stream_of(library, frame->hd.stream_id);
  // It was read before the connection was full, and is no longer there.
  if (stream == nullptr || stream->unsent().size() < size)
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  return guarded([&] {
    copy_into(session.stream_, text_of(frame_start, frame_head::size_bytes));
    copy_into(session.stream_, stream->unsent().substr(0, size));
    stream->note_sent(size);
    return 0;
  });
}

}  // namespace weft::http::http2
