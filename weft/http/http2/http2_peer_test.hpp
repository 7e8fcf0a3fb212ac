// A server of HTTP/2 that does exactly what a test tells it, frame by frame (RFC 9113 section 4.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/testing/http_client.hpp>

namespace weft::testing {

struct http2_frame {
  unsigned type = 0;
  unsigned flags = 0;
  unsigned stream = 0;
  std::string payload{};
};

/// A number as frames have it.
inline std::string big_endian(std::uint32_t number, int bytes = 4) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i) & 0xffU);
  return text;
}

inline std::string to_bytes(const http2_frame& frame) {
  return big_endian(static_cast<std::uint32_t>(frame.payload.size()), 3) +
         big_endian(frame.type, 1) + big_endian(frame.flags, 1) + big_endian(frame.stream) +
         frame.payload;
}

/// A field of a header section as HPACK has it, as itself (RFC 7541 section 6.2.2); both short.
inline std::string literal_field(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + std::string{name} +
         static_cast<char>(value.size()) + std::string{value};
}

inline http2_frame head_frame(unsigned stream, std::string_view fields, bool is_last = false) {
  return {NGHTTP2_HEADERS,
          NGHTTP2_FLAG_END_HEADERS | (is_last ? unsigned{NGHTTP2_FLAG_END_STREAM} : 0U), stream,
          std::string{fields}};
}
inline http2_frame data_frame(unsigned stream, std::string_view content, bool is_last = true) {
  return {NGHTTP2_DATA, is_last ? unsigned{NGHTTP2_FLAG_END_STREAM} : 0U, stream,
          std::string{content}};
}
inline http2_frame reset_frame(unsigned stream, std::uint32_t code) {
  return {NGHTTP2_RST_STREAM, 0, stream, big_endian(code)};
}
inline http2_frame goaway_frame(unsigned last_stream, std::uint32_t code = 0) {
  return {NGHTTP2_GOAWAY, 0, 0, big_endian(last_stream) + big_endian(code)};
}
inline http2_frame window_frame(unsigned stream, std::uint32_t more) {
  return {NGHTTP2_WINDOW_UPDATE, 0, stream, big_endian(more)};
}
inline http2_frame settings_frame(std::uint32_t id, std::uint32_t value) {
  return {NGHTTP2_SETTINGS, 0, 0, big_endian(id, 2) + big_endian(value)};
}

inline constexpr std::string_view status_200 = "\x88";  // of the static table
inline constexpr std::string_view status_404 = "\x8d";

class http2_peer {
 public:
  explicit http2_peer(http_client& on) noexcept : on_{on} {}

  task<void> send(const http2_frame& frame) { co_await on_.send(to_bytes(frame)); }
  /// Frames at once.
  task<void> send_raw(std::string_view frames) { co_await on_.send(frames); }
  void end_output() noexcept { on_.stream().end_output(); }

  /// What the client says next that is no part of settling a connection; nothing: it has ended.
  task<std::optional<http2_frame>> next() {
    for (;;) {
      auto frame = co_await any();
      if (!frame) co_return frame;
      if (frame->type == NGHTTP2_SETTINGS && frame->flags == 0)
        co_await send({NGHTTP2_SETTINGS, 1});
      const bool is_of_connection = frame->type == NGHTTP2_SETTINGS || frame->stream == 0;
      if (!is_of_connection || frame->type == NGHTTP2_GOAWAY) co_return frame;
    }
  }

  /// The stream of the next request, with its header section; 0: the connection has ended.
  task<unsigned> next_request() {
    for (;;) {
      const auto frame = co_await next();
      if (!frame) co_return 0U;
      const bool has_fields = frame->type == NGHTTP2_HEADERS || frame->type == NGHTTP2_CONTINUATION;
      if (has_fields && (frame->flags & NGHTTP2_FLAG_END_HEADERS) != 0) co_return frame->stream;
    }
  }

  /// Answers with a body.
  task<void> answer(unsigned stream, std::string_view body) {
    co_await send(head_frame(stream, status_200));
    co_await send(data_frame(stream, body));
  }

 private:
  task<bool> receive_until(std::size_t size) {
    while (received_.size() < size) {
      const std::string more = co_await on_.receive();
      if (more.empty()) co_return false;
      received_ += more;
    }
    co_return true;
  }

  task<std::optional<http2_frame>> any() {
    constexpr std::size_t head_bytes = 9;
    if (!std::exchange(has_begun_, true)) {
      if (!co_await receive_until(http::http2::client_preface.size())) co_return std::nullopt;
      received_.erase(0, http::http2::client_preface.size());
      co_await send({NGHTTP2_SETTINGS, 0});
    }
    if (!co_await receive_until(head_bytes)) co_return std::nullopt;
    const auto number = [this](std::size_t at, std::size_t bytes) {
      unsigned value = 0;
      for (std::size_t i = at; i < at + bytes; ++i)
        value = value << 8U | static_cast<unsigned char>(received_[i]);
      return value;
    };
    http2_frame frame{number(3, 1), number(4, 1), number(5, 4)};
    const std::size_t size = number(0, 3);
    if (!co_await receive_until(head_bytes + size)) co_return std::nullopt;
    frame.payload = received_.substr(head_bytes, size);
    received_.erase(0, head_bytes + size);
    co_return frame;
  }

  http_client& on_;
  std::string received_;
  bool has_begun_ = false;
};

}  // namespace weft::testing
