// What nghttp2 calls while a server's session reads and frames.
//
// Contract: internal to http. Each function is given the session it was opened for; none lets an
// exception through. Within them nothing is sent.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/http2/library.hpp>

namespace weft::http::http2 {

class server_session;
class server_stream;

struct server_callbacks {
  /// nghttp2's part of a session. Throws std::bad_alloc.
  [[nodiscard]] static session_handle open(server_session& session);
  [[nodiscard]] static nghttp2_data_provider body_of(server_stream* stream) noexcept;

 private:
  static int on_begin_headers(nghttp2_session* library, const nghttp2_frame* frame,
                              void* self) noexcept;
  static int on_header(nghttp2_session* library, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_bytes, const std::uint8_t* value,
                       std::size_t value_bytes, std::uint8_t flags, void* self) noexcept;
  static int on_frame(nghttp2_session* library, const nghttp2_frame* frame, void* self) noexcept;
  static int on_invalid_frame(nghttp2_session* library, const nghttp2_frame* frame, int why,
                              void* self) noexcept;
  static int on_data(nghttp2_session* library, std::uint8_t flags, std::int32_t id,
                     const std::uint8_t* data, std::size_t size, void* self) noexcept;
  static int on_close(nghttp2_session* library, std::int32_t id, std::uint32_t code,
                      void* self) noexcept;
  static int on_sent(nghttp2_session* library, const nghttp2_frame* frame, void* self) noexcept;
  static ssize_t on_read(nghttp2_session* library, std::int32_t id, std::uint8_t* into,
                         std::size_t most_bytes, std::uint32_t* flags, nghttp2_data_source* source,
                         void* self) noexcept;
  static int on_send_data(nghttp2_session* library, nghttp2_frame* frame,
                          const std::uint8_t* frame_start, std::size_t size,
                          nghttp2_data_source* source, void* self) noexcept;

  static server_stream* stream_of(nghttp2_session* library, std::int32_t id) noexcept;
  static void begin_request(server_session& session, nghttp2_session* library, std::int32_t id);
  static int note_trailer(server_session& session, std::int32_t id, std::string_view name,
                          std::string_view value);
  static void end_headers(server_session& session, nghttp2_session* library,
                          const nghttp2_frame& frame);
  static int note_data(server_session& session, nghttp2_session* library,
                       const nghttp2_frame& frame);
  static nghttp2_session_callbacks* table();
};

}  // namespace weft::http::http2
