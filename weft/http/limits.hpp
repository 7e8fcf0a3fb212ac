// Every bound the HTTP server keeps, in one place.
//
// Contract: nothing a peer sends makes the server hold more bytes, more connections or wait longer
// than this says. What happens beyond each limit stands beside it; after any of these replies the
// connection is closed. A plain struct: copied into the server, read by all its connections, never
// changed while they run.
//
//   weft::http::limits bounds{.body_bytes = 64 << 10, .handler_timeout = std::chrono::seconds{5}};
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/base/bounds.hpp>
#include <weft/base/time.hpp>

namespace weft::http {

/// Those of HTTP/2 alone (RFC 9113). Beyond the rates, ten seconds' worth of which may come at
/// once, the client is told ENHANCE_YOUR_CALM and its connection closed.
struct http2_limits {
  // Requests of one connection under way. Beyond: REFUSED_STREAM, or the end of a connection whose
  // client knows.
  std::uint32_t concurrent_streams = 100;
  // Of a request's body, what may come before its handler takes some. At most 2^31 - 1, as the
  // next.
  std::uint32_t stream_window_bytes = 64 * 1024;
  // Of all bodies of one connection together. Of those that handlers want whole, as many bytes are
  // gathered at a time; beyond, one goes on, and the others wait, each within its own window.
  std::uint32_t connection_window_bytes = 1024 * 1024;
  // Of replies that were given whole and wait to be sent over one connection. Beyond: requests wait
  // for their turn.
  std::size_t queued_reply_bytes = 1024 * 1024;
  // Streams a second that end before their reply has, by the client's will or fault. Most are
  // requests that were answered for nothing.
  std::uint32_t resets_per_second = 50;
  // Frames a second that bring neither a request nor content nor what a reply has asked for: PING,
  // SETTINGS, PRIORITY, empty DATA, WINDOW_UPDATE beyond two for each frame of DATA sent.
  std::uint32_t idle_frames_per_second = 500;

  static constexpr auto bounds() {
    return weft::bounds(at_least<&http2_limits::concurrent_streams>(1),
                        within<&http2_limits::stream_window_bytes>(1, INT32_MAX),
                        within<&http2_limits::connection_window_bytes>(65'535, INT32_MAX),
                        at_least<&http2_limits::queued_reply_bytes>(1),
                        at_least<&http2_limits::resets_per_second>(1),
                        at_least<&http2_limits::idle_frames_per_second>(1));
  }

  friend bool operator==(const http2_limits&, const http2_limits&) = default;
};

/// A body up to this size needs no reservation of memory before it is read.
inline constexpr std::size_t inline_body_bytes = 16 * 1024;
/// How long a longer one waits for its memory. Beyond: 503 with Retry-After.
inline constexpr duration memory_wait = std::chrono::seconds{1};
inline constexpr std::string_view no_memory_reason =
    "this server has no memory left for requests of this size: try again soon";
inline constexpr std::string_view never_memory_reason =
    "the body is longer than the memory of this server allows";
inline constexpr std::string_view retry_after_field = "Retry-After: 1\r\n";

struct limits {
  // Method, target and version with the spaces and the line's end. Beyond: 414 (501 when the method
  // alone is longer).
  std::size_t request_line_bytes = 8 * 1024;
  // Everything up to and including the empty line; also what a connection must be able to hold at a
  // time. Beyond: 431.
  std::size_t head_bytes = 16 * 1024;
  // Header fields, at most header_list::capacity (100). Beyond: 431.
  std::size_t headers = 100;
  // The content after chunked decoding. Beyond: 413, before a byte of it is kept where the length
  // was announced.
  std::uint64_t body_bytes = 1024 * 1024;
  // Of a body that its handler has not read to the end, so much on the wire is read and dropped to
  // keep the connection. Beyond: closed after the reply.
  std::size_t unread_body_bytes = 64 * 1024;
  // The extensions of one chunk, from after its size to its line's end. Beyond: 400.
  std::size_t chunk_extension_bytes = 256;
  // All trailer fields of one request with their line ends. Beyond: 431.
  std::size_t trailer_bytes = 4 * 1024;

  // After so many the reply says `Connection: close`. 0: never.
  std::uint32_t requests_per_connection = 0;
  // Per shard. Beyond: 503 to the newcomer.
  std::uint32_t connections = 10'000;

  // From the first byte of a request to the end of its head, however the bytes trickle in. Beyond:
  // 408.
  duration header_timeout = std::chrono::seconds{10};
  // Between two pieces of a body. Beyond: 408.
  duration body_idle_timeout = std::chrono::seconds{5};
  // The least average of a body that must be waited for, in bytes on the wire a second, once it has
  // taken longer than body_idle_timeout. Slower: 408. So no body takes longer than
  // body_idle_timeout and body_bytes at this rate. 0: no bound.
  std::uint32_t body_bytes_per_second = 240;
  // From the end of a reply to the first byte of the next request. Beyond: closed without a word.
  duration keep_alive_timeout = std::chrono::seconds{60};
  // How long the peer may take nothing of what it asked for; looked at once in that time. Beyond:
  // closed.
  duration write_stall_timeout = std::chrono::seconds{30};
  // The least average at which the peer takes what it asked for, in bytes a second, over each
  // write_stall_timeout in which a reply waits for it. Slower: closed; over HTTP/2, where its
  // connection goes on, the stream is reset. 0: one byte in that time will do.
  std::uint32_t reply_bytes_per_second = 240;
  // From the end of the head to the handler's reply, and from each piece of a streamed body that a
  // handler takes or gives to the next; waiting for the client does not count. Beyond: the handler
  // is asked to stop; 503, or, if its reply has begun, closed within it.
  duration handler_timeout = std::chrono::seconds{30};
  // How often it is looked, by a system call, whether the client is still there while its handler
  // waits. Of HTTP/1.1 alone: in HTTP/2 it is heard of at once.
  duration client_look_interval = std::chrono::milliseconds{250};

  // Of HTTP/2 alone.
  http2_limits http2{};

  static constexpr auto bounds() {
    constexpr duration shortest = std::chrono::milliseconds{1};
    return weft::bounds(within<&limits::request_line_bytes>(16, UINT32_MAX - 1),
                        within<&limits::head_bytes>(16, UINT32_MAX - 1),
                        within<&limits::headers>(1, 100), at_least<&limits::connections>(1),
                        at_least<&limits::header_timeout>(shortest),
                        at_least<&limits::body_idle_timeout>(shortest),
                        at_least<&limits::write_stall_timeout>(shortest),
                        at_least<&limits::handler_timeout>(shortest),
                        at_least<&limits::client_look_interval>(shortest));
  }

  friend bool operator==(const limits&, const limits&) = default;
};

/// What a route, or a group of routes, may have other than its server: what is not set is as the
/// server's limits say.
struct route_limits {
  std::optional<std::uint64_t> body_bytes{};
  std::optional<std::size_t> unread_body_bytes{};
  std::optional<duration> body_idle_timeout{};
  std::optional<std::uint32_t> body_bytes_per_second{};
  std::optional<duration> write_stall_timeout{};
  std::optional<std::uint32_t> reply_bytes_per_second{};
  std::optional<duration> handler_timeout{};
  std::optional<duration> client_look_interval{};

  /// These, and for what is not set those of `outer`.
  [[nodiscard]] route_limits over(const route_limits& outer) const;
  [[nodiscard]] limits within(limits server) const;
};

}  // namespace weft::http
