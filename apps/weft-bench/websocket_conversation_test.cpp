#include "websocket_conversation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;

using weft::bench::conversation;
using weft::bench::load_request;
using weft::bench::masked_frame;
using weft::bench::opcode;
using weft::bench::websocket_conversation;
using verdict = weft::bench::conversation::verdict;

class counting final : public weft::bench::reply_listener {
 public:
  void on_reply(const weft::bench::owed_reply&, int) override { ++replies; }
  void on_failure(const weft::bench::owed_reply&) override {}
  int replies = 0;
};

// All that a conversation has to send, as if a socket had room for `most` bytes at a time.
std::string sent_by(conversation& by, std::size_t most = 1000) {
  std::array<iovec, 4> pieces{};
  std::string all;
  while (by.unsent(pieces) != 0) {
    const std::size_t size = std::min(most, pieces[0].iov_len);
    all.append(static_cast<const char*>(pieces[0].iov_base), size);
    by.advance(size);
  }
  return all;
}

class websocket_conversation_test : public ::testing::Test {
 protected:
  void open() {
    said.restart();
    const std::string request = sent_by(said);
    const std::size_t at = request.find("Sec-WebSocket-Key: ") + 19;
    weft::bench::websocket_handshake server{head, request.substr(at, 24)};
    EXPECT_FALSE(said.is_open());
    EXPECT_EQ(said.take("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                        "Connection: Upgrade\r\nSec-WebSocket-Accept: " +
                        server.accepted_key() + "\r\n\r\n"),
              verdict::going_on);
    EXPECT_TRUE(said.is_open());
  }
  void ask() {
    said.ask({.to = &hello, .due = 1, .since = 1});
    EXPECT_EQ(sent_by(said, 3), hello.bytes);
  }

  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  load_request hello{.bytes = masked_frame(opcode::text, "hello"), .echo = "hello"};
  counting told;
  websocket_conversation said{2, head, told};
};

TEST_F(websocket_conversation_test, counts_a_message_in_pieces_of_any_size) {
  open();
  const std::string_view fragments = "\x01\x02he\x89\x01!\x80\x03llo"sv;  // a ping between them
  for (std::size_t cut = 0; cut <= fragments.size(); ++cut) {
    ask();
    EXPECT_EQ(said.take(fragments.substr(0, cut)), verdict::going_on);
    EXPECT_EQ(said.take(fragments.substr(cut)), verdict::going_on);
    const std::string pong = sent_by(said);
    EXPECT_EQ(pong.size(), 7U);
    EXPECT_EQ(pong.substr(0, 2), "\x8a\x81"sv);
    EXPECT_EQ(pong[2] ^ pong[6], '!');
  }
  EXPECT_EQ(told.replies, static_cast<int>(fragments.size()) + 1);
  EXPECT_EQ(said.owed(), 0U);
}

TEST_F(websocket_conversation_test, reads_long_lengths) {
  hello.echo.clear();
  open();
  for (const std::size_t size : {126U, 65'536U}) {
    ask();
    const std::string length =
        size == 126 ? std::string{"\x7e\0\x7e", 3} : std::string{"\x7f\0\0\0\0\0\1\0\0", 9};
    EXPECT_EQ(said.take("\x82" + length + std::string(size, 'x')), verdict::going_on);
  }
  EXPECT_EQ(told.replies, 2);
}

TEST_F(websocket_conversation_test, pongs_between_two_requests_and_not_within_one) {
  open();
  said.ask({.to = &hello, .due = 1, .since = 1});
  std::array<iovec, 4> pieces{};
  ASSERT_EQ(said.unsent(pieces), 1U);
  said.advance(4);
  EXPECT_EQ(said.take("\x89\0"sv), verdict::going_on);
  const std::string rest = sent_by(said, 1);
  EXPECT_TRUE(rest.starts_with(hello.bytes.substr(4)));
  EXPECT_EQ(rest.substr(hello.bytes.size() - 4, 2), "\x8a\x80"sv);
}

TEST_F(websocket_conversation_test, tells_what_is_wrong) {
  for (const auto& [bytes, expected] : {
           std::pair{"\x81\x05jello"sv, verdict::malformed},  // no echo
           {"\x81\x04hell"sv, verdict::malformed},
           {"\x81\x85xxxxhello"sv, verdict::malformed},   // masked
           {"\xc1\x05hello"sv, verdict::malformed},       // compressed, which nobody asked for
           {"\x80\x05hello"sv, verdict::malformed},       // continues nothing
           {"\x01\x01h\x01\x01h"sv, verdict::malformed},  // begins within a message
           {"\x83\x05hello"sv, verdict::malformed},       // unknown
           {"\x09\x01h"sv, verdict::malformed},           // a ping in fragments
           {"\x88\0"sv, verdict::closed},
           {"\x81\x05hello\x81\x05hello"sv, verdict::unasked},
       }) {
    open();
    ask();
    EXPECT_EQ(said.take(bytes), expected) << bytes;
    said.forget();
  }
}

TEST_F(websocket_conversation_test, is_refused_with_a_reason) {
  said.restart();
  EXPECT_EQ(said.take("HTTP/1.1 200 OK\r\n\r\n"), verdict::refused);
  EXPECT_EQ(said.failure(), "no WebSocket: the server answers 'HTTP/1.1 200 OK'");
}

}  // namespace
