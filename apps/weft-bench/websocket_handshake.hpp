// The opening handshake of a WebSocket (RFC 6455 section 4), the client's side.
//
//   websocket_handshake opening{"GET /chat HTTP/1.1\r\nHost: a\r\n...", draw_key()};
//   send(opening.request());
//   opening.take(bytes_received);    // until it is done; how many of them were its own
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::bench {

// 16 random bytes, in base64.
std::string draw_websocket_key();

class websocket_handshake {
 public:
  enum class progress : std::uint8_t { pending, done, failed };
  struct step {
    progress state;
    std::size_t used;  // bytes taken; those behind are the first frames
  };

  // `head`: the request line and all fields but the key, each with its end of line.
  websocket_handshake(std::string_view head, std::string key);

  [[nodiscard]] std::string request() const;
  // What a server says that has understood the key.
  [[nodiscard]] std::string accepted_key() const;
  step take(std::string_view bytes);
  // Why it has failed; a sentence.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  progress fail(std::string why);
  progress judge();

  std::string_view head_;
  std::string key_;
  std::string answer_;
  std::string failure_;
};

}  // namespace weft::bench
