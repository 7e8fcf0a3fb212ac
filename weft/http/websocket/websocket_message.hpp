// What is sent and received over a WebSocket: text or bytes.
//
// Contract: a value, and a view: see websocket.hpp for how long the bytes of one that was read
// stay. Text is UTF-8, checked on receipt.
//
//   if (message->kind == http::message_kind::text) log::info(message->data);
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::http {

enum class message_kind : std::uint8_t { text, binary };

struct websocket_message {
  message_kind kind = message_kind::text;
  std::string_view data{};

  [[nodiscard]] bool is_text() const noexcept { return kind == message_kind::text; }
};

}  // namespace weft::http
