#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <weft/http/content_decoder.hpp>
#include <weft/http/content_encoder.hpp>

namespace weft::http {
namespace {

constexpr std::array codings = {content_coding::gzip, content_coding::deflate, content_coding::br,
                                content_coding::zstd};

std::string long_text() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  return text;
}

// Gives pieces of `piece` bytes, and rooms of `room_bytes`.
std::string encode(content_coding coding, std::string_view text, std::size_t piece,
                   std::size_t room_bytes, effort wanted = effort::balanced) {
  auto encoder = content_encoder::make(coding, wanted);
  std::string made;
  std::vector<char> room(room_bytes);
  for (;;) {
    const std::string_view given = text.substr(0, piece);
    const bool is_last = given.size() == text.size();
    const coding_progress got = encoder->encode(given, room, is_last ? feed::end : feed::more);
    made.append(room.data(), got.written_bytes);
    text.remove_prefix(got.consumed_bytes);
    if (got.status == coding_status::finished) return made;
    EXPECT_NE(got.status, coding_status::failed);
    if (got.status == coding_status::need_input) EXPECT_EQ(got.consumed_bytes, given.size());
  }
}

struct decoded {
  std::string text;
  coding_status status = coding_status::need_input;
  bool is_too_large = false;
};

decoded decode(content_coding coding, std::string_view bytes, std::size_t piece,
               std::size_t room_bytes, const decoding_limits& bounds = {}) {
  auto decoder = content_decoder::make(coding, bounds);
  decoded all;
  std::vector<char> room(room_bytes);
  while (all.status != coding_status::failed) {
    const std::string_view given = bytes.substr(0, piece);
    const coding_progress got = decoder->decode(given, room);
    all.text.append(room.data(), got.written_bytes);
    all.status = got.status;
    all.is_too_large = decoder->is_too_large();
    bytes.remove_prefix(got.consumed_bytes);
    if (bytes.empty() && got.status != coding_status::need_room) break;
    // A decoder that neither takes nor gives would go on for ever.
    if (got.status != coding_status::failed) EXPECT_NE(got.consumed_bytes + got.written_bytes, 0u);
  }
  EXPECT_EQ(decoder->is_finished(), all.status == coding_status::finished);
  return all;
}

TEST(content_codec, what_is_encoded_is_decoded_in_pieces_of_any_size) {
  const std::string text = long_text();
  for (const content_coding coding : codings) {
    SCOPED_TRACE(to_string(coding));
    for (const effort wanted : {effort::fast, effort::balanced, effort::smallest}) {
      const std::string whole = encode(coding, text, text.size(), text.size(), wanted);
      EXPECT_LT(whole.size() * 3, text.size());
      EXPECT_EQ(decode(coding, whole, whole.size(), text.size() + 1).text, text);
    }
    const std::string cut = encode(coding, text, 1000, 7);
    const decoded back = decode(coding, cut, 1, 13);
    EXPECT_EQ(back.status, coding_status::finished);
    EXPECT_EQ(back.text, text);
    EXPECT_EQ(decode(coding, encode(coding, "", 1, 64), 1, 1).status, coding_status::finished);
  }
}

TEST(content_codec, a_flush_brings_out_all_that_was_given) {
  for (const content_coding coding : codings) {
    SCOPED_TRACE(to_string(coding));
    auto encoder = content_encoder::make(coding);
    auto decoder = content_decoder::make(coding, {});
    std::array<char, 256> room;
    std::array<char, 256> plain;
    for (std::string_view event : {"one\n", "two\n", "three\n"}) {
      const coding_progress made = encoder->encode(event, room, feed::flush);
      EXPECT_EQ(made.status, coding_status::need_input);
      EXPECT_EQ(made.consumed_bytes, event.size());
      const coding_progress got = decoder->decode({room.data(), made.written_bytes}, plain);
      EXPECT_EQ((std::string_view{plain.data(), got.written_bytes}), event);
    }
  }
}

TEST(content_codec, who_has_more_than_fits_asks_for_room) {
  const std::string text = long_text();
  for (const content_coding coding : codings) {
    SCOPED_TRACE(to_string(coding));
    auto encoder = content_encoder::make(coding);
    auto decoder = content_decoder::make(coding, {});
    std::string coded(text.size(), ' ');
    const coding_progress made = encoder->encode(text, coded, feed::flush);
    ASSERT_EQ(made.status, coding_status::need_input);
    std::string_view left{coded.data(), made.written_bytes};
    std::string plain;
    std::array<char, 100> room;
    coding_progress got{coding_status::need_room, 0, 0};
    while (got.status == coding_status::need_room) {
      got = decoder->decode(left, room);
      left.remove_prefix(got.consumed_bytes);
      plain.append(room.data(), got.written_bytes);
    }
    EXPECT_EQ(got.status, coding_status::need_input);
    EXPECT_EQ(plain, text);
  }
}

TEST(content_decoder, refuses_a_bomb) {
  const std::string zeros(8 << 20, '\0');
  for (const content_coding coding : codings) {
    SCOPED_TRACE(to_string(coding));
    const std::string bomb = encode(coding, zeros, zeros.size(), 1 << 16);
    const decoded by_bytes = decode(coding, bomb, bomb.size(), 4096, {.bytes = 10'000});
    EXPECT_EQ(by_bytes.status, coding_status::failed);
    EXPECT_TRUE(by_bytes.is_too_large);
    EXPECT_LE(by_bytes.text.size(), 10'000u);
    const decoded by_ratio = decode(coding, bomb, bomb.size(), 4096);
    EXPECT_TRUE(by_ratio.is_too_large);
    EXPECT_LE(by_ratio.text.size(), content_decoder::ratio_from_bytes + 200 * bomb.size());
    EXPECT_EQ(decode(coding, bomb, bomb.size(), 4096, {.ratio = 1'000'000}).text.size(),
              zeros.size());
  }
}

TEST(content_decoder, takes_exactly_the_limit) {
  for (const content_coding coding : codings) {
    const std::string bytes = encode(coding, "exactly ten", 100, 100);
    EXPECT_EQ(decode(coding, bytes, 100, 100, {.bytes = 11}).status, coding_status::finished);
    EXPECT_TRUE(decode(coding, bytes, 100, 100, {.bytes = 10}).is_too_large);
  }
}

TEST(content_decoder, tells_what_is_cut_or_broken) {
  const std::string text = long_text();
  for (const content_coding coding : codings) {
    SCOPED_TRACE(to_string(coding));
    std::string bytes = encode(coding, text, text.size(), text.size());
    EXPECT_EQ(decode(coding, {bytes.data(), bytes.size() - 1}, 100, 100).status,
              coding_status::need_input);
    EXPECT_EQ(decode(coding, "", 1, 1).status, coding_status::need_input);
    EXPECT_EQ(decode(coding, bytes + "trailing", bytes.size() + 8, 4096).status,
              coding_status::failed);
    EXPECT_EQ(decode(coding, "this is no coded text", 100, 100).status, coding_status::failed);
    const decoded broken = decode(coding, "this is no coded text", 100, 100);
    EXPECT_FALSE(broken.is_too_large);
  }
}

TEST(content_decoder, takes_members_and_frames_that_follow_each_other) {
  for (const content_coding coding : {content_coding::gzip, content_coding::zstd}) {
    const std::string two = encode(coding, "one ", 10, 100) + encode(coding, "two", 10, 100);
    EXPECT_EQ(decode(coding, two, two.size(), 100).text, "one two");
    EXPECT_EQ(decode(coding, two, 1, 100).text, "one two");
  }
  for (const content_coding coding : {content_coding::deflate, content_coding::br}) {
    const std::string two = encode(coding, "one ", 10, 100) + encode(coding, "two", 10, 100);
    EXPECT_EQ(decode(coding, two, two.size(), 100).status, coding_status::failed);
    EXPECT_EQ(decode(coding, two, 1, 100).status, coding_status::failed);
  }
}

/// As gzip(1) has it: tapes and block devices are filled up with zeros.
TEST(content_decoder, takes_zeros_behind_the_last_gzip_member) {
  const std::string member = encode(content_coding::gzip, "text", 10, 100);
  const std::string padded = member + std::string(600, '\0');
  for (const std::size_t piece : {padded.size(), std::size_t{1}}) {
    const auto read = decode(content_coding::gzip, padded, piece, 100);
    EXPECT_EQ(read.status, coding_status::finished);
    EXPECT_EQ(read.text, "text");
    for (const std::string& more : {std::string{"x"}, member})
      EXPECT_EQ(decode(content_coding::gzip, padded + more, piece, 100).status,
                coding_status::failed);
  }
  EXPECT_EQ(decode(content_coding::gzip, std::string(8, '\0'), 8, 100).status,
            coding_status::failed);
  const std::string other = encode(content_coding::deflate, "text", 10, 100) + '\0';
  EXPECT_EQ(decode(content_coding::deflate, other, 100, 100).status, coding_status::failed);
}

TEST(content_decoder, deflate_is_the_zlib_format) {
  constexpr std::string_view bare{"\x4b\x04\x00", 3};  // "a", without its header
  EXPECT_EQ(decode(content_coding::deflate, bare, 10, 10).status, coding_status::failed);
}

TEST(content_decoder, a_large_window_is_refused) {
  // A zstd frame's header that asks for 16 MiB (RFC 8878 section 3.1.1.1.2).
  constexpr std::string_view frame{"\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00", 9};
  EXPECT_EQ(decode(content_coding::zstd, frame, 10, 10).status, coding_status::failed);
}

TEST(content_codec, identity_has_none) {
  EXPECT_EQ(content_encoder::make(content_coding::identity).error(), errc::unsupported);
  EXPECT_EQ(content_decoder::make(content_coding::identity, {}).error(), errc::unsupported);
}

}  // namespace
}  // namespace weft::http
