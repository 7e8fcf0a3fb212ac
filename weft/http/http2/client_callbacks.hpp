// What nghttp2 calls while a client's session reads and frames.
//
// Contract: internal to http. Each function is given the session it was opened for; none lets an
// exception through. Within them nothing is sent.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include <weft/http/http2/library.hpp>

namespace weft::http::http2 {

class client_session;
class opened_stream;

struct client_callbacks {
  /// nghttp2's part of a session. Throws std::bad_alloc.
  [[nodiscard]] static session_handle open(client_session& session);
  /// Of whichever stream it is asked for: one that was left may still be in nghttp2's hands.
  [[nodiscard]] static nghttp2_data_provider body() noexcept;

 private:
  static int on_header(nghttp2_session* library, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_bytes, const std::uint8_t* value,
                       std::size_t value_bytes, std::uint8_t flags, void* self) noexcept;
  static int on_invalid_header(nghttp2_session* library, const nghttp2_frame* frame,
                               const std::uint8_t* name, std::size_t name_bytes,
                               const std::uint8_t* value, std::size_t value_bytes,
                               std::uint8_t flags, void* self) noexcept;
  static int on_frame(nghttp2_session* library, const nghttp2_frame* frame, void* self) noexcept;
  static int on_data(nghttp2_session* library, std::uint8_t flags, std::int32_t id,
                     const std::uint8_t* data, std::size_t size, void* self) noexcept;
  static int on_close(nghttp2_session* library, std::int32_t id, std::uint32_t code,
                      void* self) noexcept;
  static ssize_t on_read(nghttp2_session* library, std::int32_t id, std::uint8_t* into,
                         std::size_t most_bytes, std::uint32_t* flags, nghttp2_data_source* source,
                         void* self) noexcept;
  static int on_send_data(nghttp2_session* library, nghttp2_frame* frame,
                          const std::uint8_t* frame_start, std::size_t size,
                          nghttp2_data_source* source, void* self) noexcept;

  static opened_stream* stream_of(nghttp2_session* library, std::int32_t id) noexcept;
  static nghttp2_session_callbacks* table();
};

}  // namespace weft::http::http2
