#include "response_framer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using weft::bench::known_head;
using weft::bench::response_framer;
using progress = response_framer::progress;

struct reading {
  progress state;
  std::size_t used;  // of the whole input
  int status;
  bool keeps_alive;
};

// Feeds `bytes` in pieces of `piece` bytes until the response ends, is refused or the bytes do.
reading read(std::string_view bytes, std::size_t piece, bool answers_head = false) {
  known_head known;
  response_framer framer{known};
  std::size_t used = 0;
  progress state = progress::incomplete;
  while (used < bytes.size() && state == progress::incomplete) {
    const auto got = framer.feed(bytes.substr(used, piece), answers_head);
    state = got.state;
    used += got.used;
  }
  return {state, used, framer.status(), framer.keeps_alive()};
}

struct good_case {
  std::string_view name;
  std::string_view bytes;
  int status;
  bool keeps_alive;
};

const std::vector<good_case> good_cases{
    {"counted", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, true},
    {"empty", "HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n", 404, true},
    {"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, true},
    {"no content", "HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n", 204, true},
    {"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, true},
    {"close", "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", 200,
     false},
    {"old", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, false},
    {"old kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200,
     true},
    {"same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 200,
     true},
    {"chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
     "chunked\r\n\r\n5\r\nhello\r\n0A;a=\"b\"\r\n0123456789\r\n"
     "0\r\n\r\n",
     200, true},
    {"chunked with trailers",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: "
     "d\r\n\r\n",
     200, true},
    {"interim first",
     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
     "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
     201, true},
};

TEST(response_framer, finds_the_end_in_pieces_of_any_size) {
  for (const good_case& good : good_cases) {
    const std::string with_more = std::string{good.bytes} + "HTTP/1.1 500";
    for (std::size_t piece = 1; piece <= with_more.size(); ++piece) {
      const reading got = read(with_more, piece);
      EXPECT_EQ(got.state, progress::complete) << good.name << " by " << piece;
      EXPECT_EQ(got.used, good.bytes.size()) << good.name << " by " << piece;
      EXPECT_EQ(got.status, good.status) << good.name;
      EXPECT_EQ(got.keeps_alive, good.keeps_alive) << good.name;
    }
  }
}

TEST(response_framer, every_cut_is_incomplete) {
  for (const good_case& good : good_cases) {
    for (std::size_t length = 0; length < good.bytes.size(); ++length) {
      EXPECT_EQ(read(good.bytes.substr(0, length), 7).state, progress::incomplete)
          << good.name << " cut at " << length;
    }
  }
}

TEST(response_framer, refuses_what_cannot_be_framed) {
  for (const std::string_view bytes : {
           "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
           "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
           "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n",
           "hello there, this is no HTTP\r\n\r\n",
       }) {
    EXPECT_EQ(read(bytes, bytes.size()).state, progress::malformed) << bytes;
    EXPECT_EQ(read(bytes, 1).state, progress::malformed) << bytes;
  }
}

TEST(response_framer, a_body_without_length_ends_at_the_close) {
  known_head known;
  response_framer framer{known};
  EXPECT_EQ(framer.feed("HTTP/1.1 200 OK\r\n\r\nand so").state, progress::incomplete);
  EXPECT_EQ(framer.feed(" on").used, 3U);
  EXPECT_TRUE(framer.ends_at_close());
  EXPECT_FALSE(framer.keeps_alive());
}

TEST(response_framer, an_answer_to_head_has_no_body) {
  const reading got = read("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 9, true);
  EXPECT_EQ(got.state, progress::complete);
}

TEST(response_framer, an_endless_head_is_refused) {
  const std::string head = "HTTP/1.1 200 OK\r\nX: " + std::string(response_framer::head_limit, 'x');
  EXPECT_EQ(read(head, 1000).state, progress::malformed);
}

TEST(response_framer, a_known_head_frames_as_a_parsed_one) {
  known_head known;
  response_framer framer{known};
  constexpr std::string_view first = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
  constexpr std::string_view other = "HTTP/1.1 503 No\r\nContent-Length: 1\r\n\r\n!";
  for (const std::string_view bytes : {first, first, other, first, other, other}) {
    const auto got = framer.feed(bytes);
    EXPECT_EQ(got.state, progress::complete);
    EXPECT_EQ(got.used, bytes.size());
    EXPECT_EQ(framer.status(), bytes == first ? 200 : 503);
    EXPECT_EQ(known.means.status, framer.status());
  }
}

TEST(response_framer, reset_forgets_half_a_response) {
  known_head known;
  response_framer framer{known};
  EXPECT_EQ(framer.feed("HTTP/1.1 200 OK\r\nContent-Le").state, progress::incomplete);
  framer.reset();
  EXPECT_EQ(framer.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").state, progress::complete);
}

}  // namespace
