#include "http2_conversation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::string_view_literals;

using weft::bench::conversation;
using weft::bench::http2_conversation;
using weft::bench::load_request;
using verdict = weft::bench::conversation::verdict;

enum class kind : char { data = 0, headers = 1, reset = 3, settings = 4, goaway = 7 };
constexpr int end_stream = 1;
constexpr int end_headers = 4;

// A frame of a server (RFC 9113 section 4.1).
std::string frame(kind type, int flags, int stream, std::string_view payload = {}) {
  std::string bytes{'\0', '\0', static_cast<char>(payload.size())};
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  bytes += {'\0', '\0', '\0', static_cast<char>(stream)};
  return bytes.append(payload);
}

const std::string ok_without_body = "\x88";  // HPACK: the static table's `:status: 200`
const std::string not_found = "\x8d";

class noting final : public weft::bench::reply_listener {
 public:
  void on_reply(const weft::bench::owed_reply&, int status) override { replies.push_back(status); }
  void on_failure(const weft::bench::owed_reply&) override { ++failures; }
  std::vector<int> replies;
  int failures = 0;
};

class http2_conversation_test : public ::testing::Test {
 protected:
  http2_conversation_test() {
    said.restart();
    EXPECT_TRUE(send().starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    EXPECT_EQ(said.take(frame(kind::settings, 0, 0)), verdict::going_on);
  }
  void ask() { said.ask({.to = &get, .due = 7, .since = 7}); }
  std::string send() {
    std::array<iovec, 4> pieces{};
    std::string all;
    while (said.unsent(pieces) != 0) {
      all.append(static_cast<const char*>(pieces[0].iov_base), pieces[0].iov_len);
      said.advance(pieces[0].iov_len);
    }
    return all;
  }

  load_request get{
      .fields = {{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}}};
  noting told;
  http2_conversation said{2, told};
};

TEST_F(http2_conversation_test, counts_replies_in_the_order_in_which_they_end) {
  ask();
  ask();
  EXPECT_FALSE(said.has_room());
  EXPECT_FALSE(send().empty());
  EXPECT_EQ(said.take(frame(kind::headers, end_headers, 1, ok_without_body) +
                      frame(kind::headers, end_headers | end_stream, 3, not_found)),
            verdict::going_on);
  EXPECT_EQ(told.replies, std::vector{404});
  EXPECT_TRUE(said.has_room());
  const std::string rest = frame(kind::data, 0, 1, "hel") + frame(kind::data, end_stream, 1, "lo");
  for (const char byte : rest) EXPECT_EQ(said.take({&byte, 1}), verdict::going_on);
  EXPECT_EQ(told.replies, (std::vector{404, 200}));
  EXPECT_EQ(said.owed(), 0U);
}

TEST_F(http2_conversation_test, sends_a_body) {
  get.bytes = "hello";
  ask();
  EXPECT_NE(send().find("\0\0\x05\0\x01\0\0\0\x01hello"sv), std::string::npos);
}

TEST_F(http2_conversation_test, a_stream_that_is_reset_is_a_failure_and_nothing_more) {
  ask();
  ask();
  send();
  EXPECT_EQ(said.take(frame(kind::reset, 0, 1, "\0\0\0\x08"sv)), verdict::going_on);
  EXPECT_EQ(told.failures, 1);
  EXPECT_EQ(said.owed(), 1U);
  EXPECT_EQ(said.owed_from(7), 1U);
  EXPECT_EQ(said.owed_from(8), 0U);
  EXPECT_EQ(said.oldest(), 7U);
}

TEST_F(http2_conversation_test, what_a_leaving_server_has_not_begun_is_asked_for_again) {
  ask();
  ask();
  send();
  const std::string leaving = frame(kind::goaway, 0, 0, "\0\0\0\x01\0\0\0\0"sv);  // after stream 1
  EXPECT_EQ(said.take(leaving), verdict::going_on);
  EXPECT_FALSE(said.has_room());
  EXPECT_EQ(said.take(frame(kind::headers, end_headers | end_stream, 1, ok_without_body)),
            verdict::last_reply);
  EXPECT_EQ(said.owed(), 1U);
  said.restart();
  EXPECT_NE(send().find("PRI"), std::string::npos);
  EXPECT_EQ(said.take(frame(kind::settings, 0, 0) +
                      frame(kind::headers, end_headers | end_stream, 1, ok_without_body)),
            verdict::going_on);
  EXPECT_EQ(told.replies, (std::vector{200, 200}));
  EXPECT_EQ(told.failures, 0);
}

TEST_F(http2_conversation_test, tells_what_is_wrong) {
  ask();
  send();
  EXPECT_EQ(said.end(), verdict::closed);
  EXPECT_EQ(said.take("HTTP/1.1 400 Bad Request\r\n\r\n"), verdict::malformed);
  said.forget();
  EXPECT_EQ(said.owed(), 0U);
  EXPECT_TRUE(said.has_room());
}

}  // namespace
