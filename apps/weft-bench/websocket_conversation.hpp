// Internal: messages of a WebSocket, each of which answers the oldest that has not been answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "in_order_conversation.hpp"
#include "websocket_frame.hpp"
#include "websocket_handshake.hpp"

namespace weft::bench {

class websocket_conversation final : public in_order_conversation {
 public:
  // `head`: of the handshake, without the key.
  websocket_conversation(std::size_t most, const std::string& head, reply_listener& told)
      : in_order_conversation{most, told}, head_{head} {}

  void restart() override;
  [[nodiscard]] bool is_open() const override { return is_open_; }
  std::size_t unsent(std::span<iovec> pieces) override;
  void advance(std::size_t sent_bytes) override;
  verdict take(std::string_view bytes) override;
  verdict end() override { return verdict::closed; }
  [[nodiscard]] std::string_view failure() const override;

 private:
  // Between two requests, it may have to say something of its own: the handshake, a pong.
  [[nodiscard]] bool speaks_for_itself() const;
  verdict open(std::string_view& bytes);
  verdict take_frame(std::string_view& bytes);
  verdict take_payload(std::string_view piece);
  verdict end_frame();

  const std::string& head_;
  std::optional<websocket_handshake> handshake_;
  bool is_open_ = false;
  std::string own_;
  std::size_t own_sent_ = 0;
  frame_header header_;
  std::uint64_t payload_left_ = 0;
  bool is_within_message_ = false;
  std::size_t echoed_ = 0;  // bytes of the oldest that came back
  std::string control_;     // payload of a control frame
};

}  // namespace weft::bench
