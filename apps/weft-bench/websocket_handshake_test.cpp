#include "websocket_handshake.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using weft::bench::websocket_handshake;
using shaken = weft::bench::websocket_handshake::progress;

// RFC 6455 section 1.3 has this key and what accepts it.
constexpr const char* key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr const char* head = "GET /chat HTTP/1.1\r\nHost: a\r\n";

std::string answer(const std::string& accept, const std::string& fields = "") {
  return "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection:upgrade\r\n" +
         fields + "Sec-WebSocket-Accept: " + accept + " \r\n\r\n";
}

TEST(websocket_handshake, asks_with_the_key) {
  const websocket_handshake opening{head, key};
  EXPECT_EQ(opening.request(),
            "GET /chat HTTP/1.1\r\nHost: a\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
}

TEST(websocket_handshake, draws_another_key_each_time) {
  EXPECT_EQ(weft::bench::draw_websocket_key().size(), 24U);
  EXPECT_NE(weft::bench::draw_websocket_key(), weft::bench::draw_websocket_key());
}

TEST(websocket_handshake, is_done_by_the_answer_to_the_key_and_takes_no_frame) {
  const std::string bytes = answer("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    websocket_handshake opening{head, key};
    EXPECT_EQ(opening.take(bytes.substr(0, cut)).state, shaken::pending);
    const auto [state, used] = opening.take(bytes.substr(cut) + "\x81\x01x");
    EXPECT_EQ(state, shaken::done) << opening.failure();
    EXPECT_EQ(used, bytes.size() - cut);
  }
}

TEST(websocket_handshake, refuses_with_a_reason) {
  const std::string accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
  for (const auto& [bytes, reason] : {
           std::pair{std::string{"HTTP/1.1 404 Not Found\r\n\r\n"}, "'HTTP/1.1 404 Not Found'"},
           {answer("s3pPLMBiTxaQ9kYGzzhZRbK+xOO="), "does not answer the key"},
           {"HTTP/1.1 101 Well\r\nSec-WebSocket-Accept: " + accept + "\r\n\r\n", "not upgraded"},
           {answer(accept, std::string(20'000, 'x')).substr(0, 20'000), "no end"},
       }) {
    websocket_handshake opening{head, key};
    EXPECT_EQ(opening.take(bytes).state, shaken::failed);
    EXPECT_NE(opening.failure().find(reason), std::string::npos) << opening.failure();
  }
}

}  // namespace
