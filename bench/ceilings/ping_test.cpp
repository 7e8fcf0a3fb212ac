#include "ping.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace {

using ceiling::outcome;
using ceiling::verdict;

class ping : public ::testing::Test {
 protected:
  outcome serve(std::string_view input) { return ceiling::serve_one(input, *replies_); }
  [[nodiscard]] std::string replies() const { return std::string{replies_->view()}; }

 private:
  std::unique_ptr<ceiling::reply_buffer> replies_ = std::make_unique<ceiling::reply_buffer>();
};

constexpr std::string_view request =
    "POST /ping HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\n{\"sequence\": 2}";

TEST_F(ping, gives_the_sequence_back) {
  const outcome got = serve(request);
  EXPECT_EQ(got.what, verdict::complete);
  EXPECT_EQ(got.used, request.size());
  EXPECT_EQ(replies(),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
            "{\"sequence\":2}");
}

TEST_F(ping, longest_reply_has_the_right_length_and_fits) {
  serve("POST / HTTP/1.1\r\ncontent-length:33\r\n\r\n{\"sequence\":18446744073709551615}");
  EXPECT_TRUE(replies().ends_with("Length: 33\r\n\r\n{\"sequence\":18446744073709551615}"))
      << replies();
  EXPECT_LE(replies().size(), ceiling::reply_buffer::longest_reply);
}

TEST_F(ping, every_cut_of_a_request_is_incomplete_and_says_nothing) {
  for (std::size_t length = 0; length < request.size(); ++length) {
    EXPECT_EQ(serve(request.substr(0, length)).what, verdict::incomplete) << length;
  }
  EXPECT_EQ(replies(), "");
}

TEST_F(ping, takes_one_of_two_pipelined_requests) {
  const std::string two = std::string{request} + std::string{request};
  EXPECT_EQ(serve(two).used, request.size());
}

TEST_F(ping, get_is_greeted) {
  EXPECT_EQ(serve("GET / HTTP/1.1\r\n\r\n").what, verdict::complete);
  EXPECT_TRUE(replies().ends_with("\r\n\r\nHello, World!"));
}

TEST_F(ping, refuses_what_is_no_ping) {
  EXPECT_EQ(serve("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").what, verdict::malformed);
  EXPECT_EQ(serve("POST / HTTP/1.1\r\nContent-Length: 14\r\n\r\n{\"sequence\":x}").what,
            verdict::malformed);
  EXPECT_EQ(serve("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n").what, verdict::malformed);
  EXPECT_EQ(serve("\r\n\r\n").what, verdict::malformed);
}

TEST_F(ping, replies_to_a_whole_input_of_shortest_requests_fit) {
  std::string input;
  while (input.size() + ceiling::reply_buffer::shortest_request <= ceiling::input_limit) {
    input += "GET / HTTP/1.1\r\n\r\n";
  }
  std::string_view rest = input;
  while (!rest.empty()) {
    const outcome got = serve(rest);
    ASSERT_EQ(got.what, verdict::complete);
    rest.remove_prefix(got.used);
  }
  EXPECT_LE(replies().size(), ceiling::reply_buffer::capacity);
}

}  // namespace
