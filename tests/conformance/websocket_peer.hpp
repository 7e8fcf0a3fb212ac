// The other end of a WebSocket, which does exactly what it is told: sends frames as they stand,
// shows what comes event by event.
//
// Contract: for tests; on the shard of its stream. Events are lines as websocket_outcome.hpp writes
// them; "end" is the end of the connection, "reset" one that is none.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tests/conformance/websocket_outcome.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/websocket/mask.hpp>
#include <weft/http/websocket/message_reader.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/testing/http_client.hpp>

namespace weft::http::ws {

inline constexpr std::string_view handshake_fields =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A frame as `sender` sends it.
inline std::string frame_text(opcode kind, std::string_view payload, frame_head head = {},
                              role sender = role::client) {
  head.kind = kind;
  head.is_masked = sender == role::client;
  head.key = head.is_masked ? 0x04030201U : 0U;
  head.payload_bytes = payload.size();
  std::string bytes(head.size_bytes(), '\0');
  head.write(bytes.data());
  bytes += payload;
  if (head.is_masked) apply_mask(std::span{bytes}.subspan(head.size_bytes()), head.key, 0);
  return bytes;
}

inline std::string close_payload(unsigned code, std::string_view reason = {}) {
  return std::string{static_cast<char>(code >> 8U), static_cast<char>(code & 0xffU)}.append(reason);
}

class websocket_peer {
 public:
  /// `with`: what may be agreed on about compression, by this end's inflater.
  websocket_peer(testing::http_client client, event_loop& loop, role self = role::client,
                 bool keeps_context = false)
      : client_{std::move(client)},
        pool_{loop.buffers()},
        inflater_{std::make_unique<message_inflater>(15, keeps_context)},
        reader_{self, 64UZ << 20U, loop.buffers(), inflater_.get()},
        self_{self} {}

  /// Gives the reply's status.
  task<int> shake_hands(std::string_view path, std::string_view fields = {}) {
    reply_ = co_await client_.ask("GET", path, {}, std::string{handshake_fields}.append(fields));
    co_return reply_.status;
  }
  [[nodiscard]] const testing::http_reply& reply() const noexcept { return reply_; }

  task<void> send(opcode kind, std::string_view payload, frame_head head = {}) {
    co_await client_.send(frame_text(kind, payload, head, self_));
  }
  task<void> send_text(std::string_view text) { co_await send(opcode::text, text); }
  task<void> send_raw(std::string_view bytes) { co_await client_.send(bytes); }

  /// The next one.
  task<std::string> event() {
    for (;;) {
      const read_progress step = reader_.next(std::span{received_}.subspan(used_));
      used_ += step.consumed_bytes;
      if (step.what != read_event::nothing) co_return describe_event(reader_, step.what, pool_);
      const std::string more = co_await client_.receive();
      if (more.empty()) co_return client_.last_error() == errc::closed ? "end" : "reset";
      received_.assign(more.begin(), more.end());
      used_ = 0;
    }
  }
  [[nodiscard]] testing::http_client& client() noexcept { return client_; }

 private:
  testing::http_client client_;
  buffer_pool& pool_;
  std::unique_ptr<message_inflater> inflater_;
  message_reader reader_;
  testing::http_reply reply_;
  std::vector<char> received_;
  std::size_t used_ = 0;
  role self_;
};

}  // namespace weft::http::ws
