// What a WebSocket may be told, and every bound that it keeps.
//
// Contract: plain structs, copied by who takes them. What happens beyond each limit stands beside
// it; the codes are those of close_code.hpp. Times are of 1 ms at least; duration::max() is never.
//
//   http.websocket("/chat", chat, {.subprotocols = {"chat.v2", "chat.v1"},
//                                  .compression = http::websocket_compression::single});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/time.hpp>

namespace weft::http {

/// permessage-deflate (RFC 7692), where the other end speaks it as well.
enum class websocket_compression : std::uint8_t {
  off,
  single,   // each message by itself, with memory that all WebSockets of a shard share
  context,  // messages may refer to those before them: shorter, for some 300 KiB a WebSocket
};

struct websocket_limits {
  // Of a message, both as it comes and inflated. Beyond: closed with 1009.
  std::size_t message_bytes = 1024 * 1024;
  // When nothing has been heard for so long, a ping is sent.
  duration ping_interval = std::chrono::seconds{30};
  // And when nothing is heard for so long after that, the connection is taken for lost: cut.
  duration pong_timeout = std::chrono::seconds{20};
  // How long the other end may take nothing of what waits to be sent to it; looked at once in that
  // time. Beyond: cut.
  duration write_stall_timeout = std::chrono::seconds{30};
  // The least average at which the other end takes what waits to be sent to it, in bytes a second,
  // over each write_stall_timeout in which something does; all that waited when the time began is
  // enough. Slower: cut. 0: one byte in that time will do.
  std::uint32_t send_bytes_per_second = 240;
  // How long the other end may take to answer a close frame, and then to end its connection.
  // Beyond: cut. Also how long a handler may go on when all is over, before it is asked to stop.
  duration close_timeout = std::chrono::seconds{5};
};

/// Of a route.
struct websocket_options {
  /// The first of these that the client offers is spoken. One that offers some, but none of these,
  /// is served without, which browsers take for a failure (RFC 6455 section 4.1).
  std::vector<std::string> subprotocols{};
  /// Which pages, besides those of the server's own host, may connect: "https://app.example", "*"
  /// for all, "null" for those without an origin. A browser sends cookies along wherever the page
  /// comes from, so that others would act in the name of whoever looks at them. Programs that are
  /// no browsers send no Origin, and are let in. Beyond: 403.
  std::vector<std::string> origins{};
  websocket_compression compression = websocket_compression::off;
  websocket_limits limits{};
};

/// Of a client.
struct websocket_client_options {
  /// Offered to the server, the best first; it may speak none of them: see
  /// websocket::subprotocol().
  std::vector<std::string> subprotocols{};
  websocket_compression compression = websocket_compression::off;
  websocket_limits limits{};
};

/// What makes no sense among them, with what it may be; empty: nothing.
[[nodiscard]] std::string fault_of(const websocket_options& options);
[[nodiscard]] std::string fault_of(const websocket_client_options& options);

}  // namespace weft::http
