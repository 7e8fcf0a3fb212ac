// The head of a reply, formatted where it will be sent from.
//
// Contract: private to weft/http's sources. write() fills at most most_bytes(), a bound that takes
// no counting. Content-Length stands wherever the status allows it (RFC 9110 section 8.6), unless
// the body is sent in chunks or ends with the connection. Connection only where it says something
// new: `close`, or `keep-alive` to an HTTP/1.0 client. Allocates nothing. Every reply pays for it,
// so it is inline.
//
//   reply_head head{.start = dates.at(now), .content_type = "text/plain", .content_length = 6};
//   char* const begin = stream.prepare(head.most_bytes()).data();
//   stream.commit(head.write(begin) - begin);
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weft/http/date.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

enum class connection_field : std::uint8_t { none, close, keep_alive };

/// How a client knows where the body ends (RFC 9112 section 6.3).
enum class body_framing : std::uint8_t { length, chunked, until_close };

struct reply_head {
  status code = status::ok;
  const reply_start& start;
  std::string_view content_type{};  // empty: none
  body_framing framing = body_framing::length;
  std::uint64_t content_length = 0;
  std::string_view fields{};  // further ones, each with its line end
  connection_field connection = connection_field::none;

  [[nodiscard]] std::size_t most_bytes() const noexcept {
    constexpr std::size_t all_but_what_is_given = 224;
    return all_but_what_is_given + content_type.size() + fields.size();
  }
  /// Gives the end of what was written.
  char* write(char* out) const noexcept;
};

namespace detail {

// Nearly all that stands in a head has 16 to 64 bytes, which take no call: pieces of 16, of which
// the last may cover a part of the one before.
inline char* put(char* out, std::string_view text) noexcept {
  constexpr std::size_t piece = 16;
  const std::size_t size = text.size();
  if (size >= piece && size <= 4 * piece) [[likely]] {
    for (std::size_t at = 0; at + piece < size; at += piece)
      std::memcpy(out + at, text.data() + at, piece);
    std::memcpy(out + size - piece, text.data() + size - piece, piece);
  } else if (size != 0) {
    std::memcpy(out, text.data(), size);
  }
  return out + size;
}

inline char* put_line(char* out, std::string_view name, std::string_view value) noexcept {
  return put(put(put(out, name), value), "\r\n");
}

constexpr std::string_view connection_line(connection_field field) noexcept {
  switch (field) {
    case connection_field::close: return "Connection: close\r\n";
    case connection_field::keep_alive: return "Connection: keep-alive\r\n";
    case connection_field::none: break;
  }
  return {};
}

}  // namespace detail

[[gnu::always_inline]] inline char* reply_head::write(char* out) const noexcept {
  constexpr std::size_t digits_most = 20;  // of 64 bits
  if (code == status::ok) [[likely]] {
    std::memcpy(out, start.data(), reply_start::copied_bytes);
    out += reply_start::size_bytes;
  } else {
    out = detail::put(detail::put(out, status_line(code)), start.date_line());
  }
  if (!content_type.empty()) out = detail::put_line(out, "Content-Type: ", content_type);
  if (framing != body_framing::length) [[unlikely]] {
    if (framing == body_framing::chunked && !is_bodiless(code))
      out = detail::put(out, "Transfer-Encoding: chunked\r\n");
  } else if (!is_bodiless(code)) {
    out = detail::put(out, "Content-Length: ");
    out = std::to_chars(out, out + digits_most, content_length).ptr;
    out = detail::put(out, "\r\n");
  }
  if (!fields.empty()) out = detail::put(out, fields);
  if (connection != connection_field::none)
    out = detail::put(out, detail::connection_line(connection));
  return detail::put(out, "\r\n");
}

}  // namespace weft::http
