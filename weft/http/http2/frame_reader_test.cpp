#include <weft/http/http2/frame_reader.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <weft/http/http2/http2_peer_test.hpp>

namespace weft::http::http2 {
namespace {

using testing::big_endian;
using testing::http2_frame;
using testing::to_bytes;

/// A frame with a copy of what it shows; of DATA all pieces together.
struct seen_frame {
  frame head;
  std::string payload;
};

struct seen_input {
  std::vector<seen_frame> frames;
  std::uint32_t wrong;
};

seen_input read_frames(frame_reader& reader, std::string_view input, std::size_t piece) {
  seen_input seen{};
  for (std::size_t at = 0; at < input.size(); at += piece) {
    std::string_view rest = input.substr(at, piece);
    for (frame come; reader.next(rest, come);) {
      if (come.begins) seen.frames.push_back({come, {}});
      seen.frames.back().payload += come.payload;
      seen.frames.back().head.ends = come.ends;
    }
    if (reader.wrong() == NGHTTP2_NO_ERROR) EXPECT_TRUE(rest.empty());
  }
  seen.wrong = reader.wrong();
  return seen;
}

const std::string opening_bytes =
    std::string{client_preface} + to_bytes({NGHTTP2_SETTINGS, 0, 0, {}});

std::string headers_bytes(unsigned flags, unsigned stream, std::string_view payload) {
  return to_bytes({NGHTTP2_HEADERS, flags, stream, std::string{payload}});
}

TEST(http2_frame_reader, shows_the_same_frames_however_the_input_is_cut) {
  constexpr unsigned padded = NGHTTP2_FLAG_PADDED;
  constexpr unsigned end = NGHTTP2_FLAG_END_HEADERS;
  const std::string input =
      opening_bytes + headers_bytes(end, 1, "fields") +
      headers_bytes(padded | NGHTTP2_FLAG_PRIORITY, 3, std::string{"\2\0\0\0\1\7more..", 12}) +
      to_bytes({NGHTTP2_CONTINUATION, 0, 3, " fields"}) +
      to_bytes({NGHTTP2_CONTINUATION, end, 3, ""}) + to_bytes({NGHTTP2_DATA, 0, 1, "a body"}) +
      to_bytes({NGHTTP2_DATA, padded, 1, std::string{"\3of two...", 10}}) +
      to_bytes({NGHTTP2_DATA, 1, 1, ""}) + to_bytes({0x42, 0xff, 7, "not known"}) +
      to_bytes({NGHTTP2_PING, 0, 0, "12345678"}) +
      to_bytes({NGHTTP2_GOAWAY, 0, 0, big_endian(0) + big_endian(2) + "why"}) +
      to_bytes({NGHTTP2_WINDOW_UPDATE, 0, 0x80000001U, big_endian(9)});
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    frame_reader reader;
    const auto [all, wrong] = read_frames(reader, input, piece);
    ASSERT_EQ(wrong, NGHTTP2_NO_ERROR) << piece;
    std::vector<std::string> payloads;
    for (const seen_frame& each : all) {
      payloads.push_back(each.payload);
      EXPECT_TRUE(each.head.ends);
    }
    ASSERT_EQ(payloads, (std::vector<std::string>{"", "fields", "more", " fields", "", "a body",
                                                  "of two", "", "", "12345678",
                                                  big_endian(0) + big_endian(2), big_endian(9)}));
    EXPECT_EQ(all[6].head.padding_bytes, 4U);
    EXPECT_EQ(all[6].head.length, 10U);
    EXPECT_EQ(all[8].head.type, 0x42);
    EXPECT_EQ(all[8].head.length, 9U);
    EXPECT_EQ(all.back().head.stream, 1) << "without the bit that is reserved";
  }
}

TEST(http2_frame_reader, knows_when_a_header_section_is_under_way) {
  frame_reader reader;
  read_frames(reader, opening_bytes, opening_bytes.size());
  const std::string begun = headers_bytes(0, 1, "fields");
  EXPECT_FALSE(reader.is_within_fields());
  read_frames(reader, begun.substr(0, 12), 12);
  EXPECT_TRUE(reader.is_within_fields());
  read_frames(reader, begun.substr(12), 12);
  EXPECT_TRUE(reader.is_within_fields());
  const std::string end = to_bytes({NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, "x"});
  read_frames(reader, end, end.size());
  EXPECT_FALSE(reader.is_within_fields());
}

struct malformed_input {
  const char* what;
  std::string input;
  std::uint32_t code;
};

std::vector<malformed_input> of_size() {
  constexpr std::uint32_t size = NGHTTP2_FRAME_SIZE_ERROR;
  std::vector<malformed_input> all{
      {"PRIORITY of 4", to_bytes({NGHTTP2_PRIORITY, 0, 1, "1234"}), size},
      {"PRIORITY of 6", to_bytes({NGHTTP2_PRIORITY, 0, 1, "123456"}), size},
      {"RST_STREAM of 3", to_bytes({NGHTTP2_RST_STREAM, 0, 1, "123"}), size},
      {"SETTINGS of 5", to_bytes({NGHTTP2_SETTINGS, 0, 0, "12345"}), size},
      {"SETTINGS acknowledged with a payload",
       to_bytes({NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "123456"}), size},
      {"PING of 7", to_bytes({NGHTTP2_PING, 0, 0, "1234567"}), size},
      {"GOAWAY of 7", to_bytes({NGHTTP2_GOAWAY, 0, 0, "1234567"}), size},
      {"WINDOW_UPDATE of 5", to_bytes({NGHTTP2_WINDOW_UPDATE, 0, 0, "12345"}), size},
      {"HEADERS whose priority is cut", headers_bytes(NGHTTP2_FLAG_PRIORITY, 1, "1234"), size}};
  for (const unsigned type : {0U, 1U, 4U, 9U, 0x42U})
    all.push_back({"16,385", to_bytes({type, 0, 1, std::string(16'385, 'x')}), size});
  return all;
}

std::vector<malformed_input> of_order() {
  constexpr std::uint32_t protocol = NGHTTP2_PROTOCOL_ERROR;
  const std::string begun = headers_bytes(0, 1, "x");
  std::vector<malformed_input> all{
      {"DATA of no stream", to_bytes({NGHTTP2_DATA, 0, 0, "x"}), protocol},
      {"HEADERS of no stream", headers_bytes(4, 0, "x"), protocol},
      {"HEADERS of a server's stream", headers_bytes(4, 2, "x"), protocol},
      {"PRIORITY of no stream", to_bytes({NGHTTP2_PRIORITY, 0, 0, "12345"}), protocol},
      {"RST_STREAM of no stream", to_bytes({NGHTTP2_RST_STREAM, 0, 0, "1234"}), protocol},
      {"SETTINGS of a stream", to_bytes({NGHTTP2_SETTINGS, 0, 1, ""}), protocol},
      {"PING of a stream", to_bytes({NGHTTP2_PING, 0, 1, "12345678"}), protocol},
      {"GOAWAY of a stream", to_bytes({NGHTTP2_GOAWAY, 0, 1, "12345678"}), protocol},
      {"PUSH_PROMISE", to_bytes({NGHTTP2_PUSH_PROMISE, 4, 1, "1234x"}), protocol},
      {"CONTINUATION of nothing", to_bytes({NGHTTP2_CONTINUATION, 4, 1, "x"}), protocol},
      {"CONTINUATION after the end",
       headers_bytes(4, 1, "x") + to_bytes({NGHTTP2_CONTINUATION, 4, 1, "x"}), protocol},
      {"CONTINUATION of another", begun + to_bytes({NGHTTP2_CONTINUATION, 4, 3, "x"}), protocol},
      {"HEADERS within HEADERS", begun + headers_bytes(4, 1, "x"), protocol},
      {"PING within HEADERS", begun + to_bytes({NGHTTP2_PING, 0, 0, "12345678"}), protocol},
      {"unknown within HEADERS", begun + to_bytes({0x42, 0, 1, "x"}), protocol}};
  return all;
}

std::vector<malformed_input> of_content() {
  constexpr std::uint32_t protocol = NGHTTP2_PROTOCOL_ERROR;
  constexpr unsigned padded = NGHTTP2_FLAG_PADDED;
  constexpr unsigned with_priority = NGHTTP2_FLAG_PRIORITY;
  std::string continued = headers_bytes(0, 1, "x");
  for (int i = 0; i < 9; ++i) continued += to_bytes({NGHTTP2_CONTINUATION, 0, 1, ""});
  return {
      {"DATA padded beyond its end", to_bytes({NGHTTP2_DATA, padded, 1, "\2x"}), protocol},
      {"DATA padded and empty", to_bytes({NGHTTP2_DATA, padded, 1, ""}), protocol},
      {"HEADERS padded beyond its end", headers_bytes(padded | 4U, 1, "\2x"), protocol},
      {"HEADERS padded and empty", headers_bytes(padded | 4U, 1, ""), protocol},
      {"HEADERS that depend on themselves",
       headers_bytes(with_priority | 4U, 3, std::string{"\0\0\0\3\7x", 6}), protocol},
      {"PRIORITY that depends on itself",
       to_bytes({NGHTTP2_PRIORITY, 0, 3, std::string{"\x80\0\0\3\7", 5}}), protocol},
      {"CONTINUATION again and again", continued, NGHTTP2_ENHANCE_YOUR_CALM},
      {"SETTINGS of 33", to_bytes({NGHTTP2_SETTINGS, 0, 0, std::string(33 * 6, '\0')}),
       NGHTTP2_ENHANCE_YOUR_CALM},
  };
}

TEST(http2_frame_reader, says_what_is_malformed) {
  for (const auto& all : {of_size(), of_order(), of_content()}) {
    for (const auto& [what, input, code] : all) {
      for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{20'000}}) {
        frame_reader reader;
        EXPECT_EQ(read_frames(reader, opening_bytes + input, piece).wrong, code) << what;
        std::string_view more = opening_bytes;
        frame come;
        EXPECT_FALSE(reader.next(more, come)) << "nothing is read behind it";
      }
    }
  }
}

TEST(http2_frame_reader, expects_the_preface_and_then_settings) {
  const std::string others[] = {
      "GET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX",
      std::string{client_preface} + to_bytes({NGHTTP2_PING, 0, 0, "12345678"}),
      std::string{client_preface} + to_bytes({0x42, 0, 0, ""}),
      std::string{client_preface} + to_bytes({NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, ""})};
  for (const std::string& input : others) {
    frame_reader reader;
    EXPECT_EQ(read_frames(reader, input, 3).wrong, NGHTTP2_PROTOCOL_ERROR) << input;
  }
  frame_reader reader;
  EXPECT_EQ(read_frames(reader, client_preface.substr(0, 20), 5).wrong, NGHTTP2_NO_ERROR);
}

}  // namespace
}  // namespace weft::http::http2
