#include <weft/http/http2/field_encoder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/http/date.hpp>
#include <weft/http/http2/field_decoder.hpp>
#include <weft/http/http2/static_names.hpp>
#include <weft/http/reply_head.hpp>

namespace weft::http::http2 {
namespace {

using decoded_fields = std::vector<std::pair<std::string, std::string>>;

/// What nghttp2 makes of what was encoded, in one piece or byte by byte.
class decoding_peer {
 public:
  decoded_fields decode(std::string_view section) {
    decoded_fields seen;
    const auto outcome =
        decoder_.decode(section, true, [&](std::string_view name, std::string_view value) {
          seen.emplace_back(name, value);
          return true;
        });
    EXPECT_EQ(outcome, decoding::whole);
    return seen;
  }

 private:
  field_decoder decoder_;
};

std::string encoded(field_encoder& encoder, const reply_head& head) {
  std::string text(field_encoder::most_bytes(head), 'x');
  char* const end = encoder.put_reply(text.data(), head);
  EXPECT_LE(end, text.data() + text.size());
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

reply_start start_at(std::int64_t second) { return reply_start{format_date(second)}; }
std::string date_at(std::int64_t second) {
  const auto date = format_date(second);
  return {date.data(), date.size()};
}

TEST(http2_field_encoder, says_a_reply) {
  field_encoder encoder;
  decoding_peer client;
  const reply_start start = start_at(784'111'777);
  const reply_head head{.code = status::ok,
                        .start = start,
                        .content_type = "text/plain",
                        .content_length = 12'345,
                        .fields =
                            "X-Mixed: A b\r\nETag:\t\"1\"\r\nConnection: close\r\nno colon\r\n"
                            "keep-alive: x\r\nLast: without an end"};
  const decoded_fields expected{{":status", "200"},
                                {"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                {"content-type", "text/plain"},
                                {"content-length", "12345"},
                                {"x-mixed", "A b"},
                                {"etag", "\"1\""},
                                {"last", "without an end"}};
  const std::string first = encoded(encoder, head);
  EXPECT_EQ(client.decode(first), expected);
  const std::string second = encoded(encoder, head);
  EXPECT_EQ(client.decode(second), expected);
  EXPECT_EQ(second.size() + 2 * 1 + 29 + 10, first.size()) << "date and type are a byte each";
}

TEST(http2_field_encoder, leaves_out_what_the_status_forbids) {
  field_encoder encoder;
  decoding_peer client;
  const reply_start start = start_at(0);
  const std::string date = date_at(0);
  EXPECT_EQ(client.decode(encoded(encoder, {.code = status::no_content, .start = start})),
            (decoded_fields{{":status", "204"}, {"date", date}}));
  EXPECT_EQ(client.decode(encoded(
                encoder, {.code = status::ok, .start = start, .framing = body_framing::chunked})),
            (decoded_fields{{":status", "200"}, {"date", date}}));
  std::array<char, field_encoder::interim_most_bytes> interim{};
  EXPECT_EQ(client.decode({interim.data(), encoder.put_continue(interim.data())}),
            (decoded_fields{{":status", "100"}}));
}

TEST(http2_field_encoder, says_every_status) {
  field_encoder encoder;
  decoding_peer client;
  const reply_start start = start_at(0);
  for (unsigned code = 200; code < 600; ++code) {
    const auto as = static_cast<status>(code);
    if (status_line(as).substr(9, 3) != std::to_string(code)) continue;  // it has no name
    const decoded_fields seen = client.decode(encoded(encoder, {.code = as, .start = start}));
    EXPECT_EQ(seen.at(0), (std::pair<std::string, std::string>{":status", std::to_string(code)}));
  }
}

TEST(http2_field_encoder, knows_when_the_table_has_dropped_what_it_put_there) {
  field_encoder encoder;
  decoding_peer client;
  for (std::int64_t second = 0; second < 1'000; ++second) {
    const reply_start start = start_at(second);
    for (int i = 0; i < 2; ++i) {
      const decoded_fields seen = client.decode(encoded(
          encoder, {.code = status::ok, .start = start, .content_type = "application/json"}));
      ASSERT_EQ(seen.at(1).second, date_at(second));
      ASSERT_EQ(seen.at(2).second, "application/json");
    }
  }
}

TEST(http2_field_encoder, keeps_to_the_table_that_the_client_has) {
  for (const std::uint32_t size : {0U, 1U, 64U, 65U, 66U, 100U, 134U, 4'095U, 4'096U, 100'000U}) {
    field_encoder encoder;
    nghttp2_hd_inflater* inflater = nullptr;
    ASSERT_EQ(nghttp2_hd_inflate_new(&inflater), 0);
    const reply_start start = start_at(1);
    const reply_head head{.code = status::ok, .start = start, .content_type = "text/html"};
    const auto decode = [&](const std::string& section) {
      decoded_fields seen;
      std::string_view rest = section;
      for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
        nghttp2_nv field;
        const auto read = nghttp2_hd_inflate_hd2(inflater, &field, &flags,
                                                 reinterpret_cast<const std::uint8_t*>(rest.data()),
                                                 rest.size(), 1);
        if (read < 0) return decoded_fields{};
        rest.remove_prefix(static_cast<std::size_t>(read));
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
          seen.emplace_back(text_of(field.name, field.namelen),
                            text_of(field.value, field.valuelen));
      }
      nghttp2_hd_inflate_end_headers(inflater);
      return seen;
    };
    EXPECT_EQ(decode(encoded(encoder, head)).size(), 4U);
    // nghttp2 insists on being told of the change, and of the least of many.
    ASSERT_EQ(nghttp2_hd_inflate_change_table_size(inflater, size), 0);
    encoder.limit_table(size);
    for (int i = 0; i < 3; ++i) {
      const decoded_fields seen = decode(encoded(encoder, head));
      ASSERT_EQ(seen.size(), 4U) << size;
      EXPECT_EQ(seen[1].second, date_at(1));
      EXPECT_EQ(seen[2].second, "text/html");
    }
    nghttp2_hd_inflate_del(inflater);
  }
}

/// As field_block, which is the client's, takes lines apart, so does this.
TEST(http2_field_encoder, says_whatever_fields_there_are) {
  std::mt19937 random{7};
  const auto number = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>{0, most}(random);
  };
  const std::string_view names[] = {"etag",    "X-A",           "server",        "Set-Cookie",
                                    "vary",    "LAST-MODIFIED", "cache-control", "x-very-long-name",
                                    "location"};
  const std::string_view types[] = {"text/plain", "application/json; charset=utf-8",
                                    "application/vnd.something-that-is-longer-than-what-is-kept",
                                    ""};
  field_encoder encoder;
  decoding_peer client;
  for (int round = 0; round < 2'000; ++round) {
    if (number(200) == 0) encoder.limit_table(static_cast<std::uint32_t>(4'096 - round));
    std::string lines;
    decoded_fields expected;
    for (std::size_t i = number(6); i > 0; --i) {
      const std::string_view name = names[number(std::size(names) - 1)];
      const std::size_t sizes[] = {number(4), number(130), number(300), number(20'000)};
      const std::string value(sizes[number(number(20) == 0 ? 3 : 2)], 'v');
      lines += std::string{name} + ": " + value + "\r\n";
      std::string small{name};
      for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      expected.emplace_back(small, value);
    }
    const reply_start start = start_at(round / 3);
    const std::string_view type = types[number(std::size(types) - 1)];
    const decoded_fields seen = client.decode(encoded(encoder, {.code = status::ok,
                                                                .start = start,
                                                                .content_type = type,
                                                                .content_length = number(1'000'000),
                                                                .fields = lines}));
    const std::size_t before = type.empty() ? 3 : 4;
    ASSERT_EQ(seen.size(), before + expected.size());
    EXPECT_EQ(seen[1].second, date_at(round / 3));
    if (!type.empty()) EXPECT_EQ(seen[2].second, type);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                           seen.begin() + static_cast<std::ptrdiff_t>(before)));
  }
}

/// Blanks around a value are no part of it (RFC 9110 section 5.5), and clients call them malformed.
TEST(http2_field_encoder, leaves_out_blanks_around_values) {
  field_encoder encoder;
  decoding_peer client;
  const reply_start start = start_at(784'111'777);
  const decoded_fields seen = client.decode(encoded(
      encoder,
      {.code = status::no_content, .start = start, .fields = "X-A: \t one two \t\r\nx-b:  \r\n"}));
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[2], (std::pair<std::string, std::string>{"x-a", "one two"}));
  EXPECT_EQ(seen[3], (std::pair<std::string, std::string>{"x-b", ""}));
}

TEST(http2_static_names, are_those_of_the_table) {
  decoding_peer client;
  unsigned known = 0;
  for (unsigned index = 15; index <= 61; ++index) {
    // A field with the name of that entry and an empty value (RFC 7541 section 6.2.2).
    const std::string section = index < 15
                                    ? std::string{static_cast<char>(index), '\0'}
                                    : std::string{'\x0f', static_cast<char>(index - 15), '\0'};
    const std::string name = client.decode(section).at(0).first;
    if (static_name(name) == 0) continue;
    EXPECT_EQ(static_name(name), index) << name;
    ++known;
  }
  EXPECT_EQ(known, 27U);
  EXPECT_EQ(static_name("x-none"), 0U);
  EXPECT_EQ(static_name(""), 0U);
}

}  // namespace
}  // namespace weft::http::http2
