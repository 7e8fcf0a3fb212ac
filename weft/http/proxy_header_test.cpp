#include <weft/http/proxy_header.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <weft/http/crc32c.hpp>

namespace weft::http {
namespace {

constexpr std::string_view signature{"\r\n\r\n\0\r\nQUIT\n", 12};

std::string bytes_of(std::initializer_list<int> all) {
  std::string text;
  for (int each : all) text += static_cast<char>(each);
  return text;
}

std::string version_2(int command, int family, const std::string& block) {
  return std::string{signature} +
         bytes_of({command, family, static_cast<int>(block.size() >> 8),
                   static_cast<int>(block.size() & 255)}) +
         block;
}

std::string tlv(int type, const std::string& value) {
  return bytes_of(
             {type, static_cast<int>(value.size() >> 8), static_cast<int>(value.size() & 255)}) +
         value;
}

const std::string ipv4 = bytes_of({10, 0, 0, 1, 10, 0, 0, 2, 0x1f, 0x90, 0x01, 0xbb});

std::string described(const std::string& received, const proxy_limits& bounds = {}) {
  const proxy_outcome found = parse_proxy_header(received, bounds);
  if (found.status == proxy_status::incomplete) return "incomplete";
  if (found.status == proxy_status::failed) return std::string{found.reason};
  std::string text = std::to_string(found.header.size_bytes);
  if (found.header.is_local) text += " local";
  if (found.header.source)
    text += " " + found.header.source->address.to_string() + " " +
            std::to_string(found.header.source->port) + " " +
            found.header.destination->address.to_string() + " " +
            std::to_string(found.header.destination->port);
  return text;
}

struct header_case {
  std::string received;
  std::string outcome;
};

const std::string bad_peers = "not two addresses and two ports with one space between them";
const std::string bad_family = "a family or transport that is not specified";

const std::vector<header_case>& header_cases() {
  static const std::vector<header_case> all = {
      // Version 1 (section 2.1).
      {"PROXY TCP4 10.0.0.1 10.0.0.2 8080 443\r\n", "39 10.0.0.1 8080 10.0.0.2 443"},
      {"PROXY TCP6 ::1 fd00::2 1 65535\r\n", "32 ::1 1 fd00::2 65535"},
      {"PROXY UNKNOWN\r\n", "15"},
      {"PROXY UNKNOWN ffff::1 whatever\r\n", "32"},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 0 0\r\n", "34 10.0.0.1 0 10.0.0.2 0"},
      {"PROXY TCP4  10.0.0.1 10.0.0.2 1 2\r\n", bad_peers},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 2 \r\n", bad_peers},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 2 3\r\n", bad_peers},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 01 2\r\n", bad_peers},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 65536\r\n", bad_peers},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 -2\r\n", bad_peers},
      {"PROXY TCP4 10.0.0.01 10.0.0.2 1 2\r\n", bad_peers},
      {"PROXY TCP4 ::1 ::1 1 2\r\n", bad_peers},
      {"PROXY TCP6 10.0.0.1 10.0.0.2 1 2\r\n", bad_peers},
      {"PROXY TCP4\r\n", bad_peers},
      {"PROXY UDP4 10.0.0.1 10.0.0.2 1 2\r\n", "neither TCP4, TCP6 nor UNKNOWN"},
      {"PROXY UNKNOWNS\r\n", "neither TCP4, TCP6 nor UNKNOWN"},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\n", "a line that ends without CR"},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\rX", "CR without LF"},
      {"PROXY UNKNOWN " + std::string(91, 'x') + "\r\n", "107"},
      {"PROXY UNKNOWN " + std::string(92, 'x') + "\r\n", "a line of more than 107 bytes"},
      {"PROXY UNKNOWN " + std::string(100, 'x'), "a line of more than 107 bytes"},
      {"proxy TCP4 ", "no PROXY header"},
      {"GET / HTTP/1.1\r\n", "no PROXY header"},
      {"", "incomplete"},
      {"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r", "incomplete"},
      // Version 2 (section 2.2).
      {version_2(0x21, 0x11, ipv4), "28 10.0.0.1 8080 10.0.0.2 443"},
      {version_2(0x21, 0x12, ipv4), "28 10.0.0.1 8080 10.0.0.2 443"},
      {version_2(
           0x21, 0x21,
           std::string(15, '\0') + "\1" + std::string(15, '\0') + "\2" + bytes_of({0, 1, 0, 2})),
       "52 ::1 1 ::2 2"},
      {version_2(0x21, 0x31, std::string(216, '\0')), "232"},
      {version_2(0x21, 0x00, "anything"), "24"},
      {version_2(0x20, 0x00, ""), "16 local"},
      {version_2(0x20, 0x11, ipv4), "28 local"},
      {version_2(0x20, 0xff, "anything"), "24 local"},
      {version_2(0x21, 0x11, ipv4 + tlv(4, "") + tlv(0x20, "tls") + tlv(0xee, "own")),
       "43 10.0.0.1 8080 10.0.0.2 443"},
      {version_2(0x21, 0x11, ipv4.substr(1)), "the addresses are cut off"},
      {version_2(0x21, 0x21, ipv4), "the addresses are cut off"},
      {version_2(0x21, 0x11, ipv4 + "\1"), "a TLV reaches over the end"},
      {version_2(0x21, 0x11, ipv4 + bytes_of({1, 0, 5}) + "four"), "a TLV reaches over the end"},
      {version_2(0x21, 0x11, ipv4 + tlv(3, "abc")), "not one checksum of four bytes"},
      {version_2(0x21, 0x11, ipv4 + tlv(3, "abcd")), "the checksum is wrong"},
      {version_2(0x21, 0x41, ipv4), bad_family},
      {version_2(0x21, 0x13, ipv4), bad_family},
      {version_2(0x21, 0x10, ipv4), bad_family},
      {version_2(0x21, 0x01, ipv4), bad_family},
      {version_2(0x22, 0x11, ipv4), "neither LOCAL nor PROXY of version 2"},
      {version_2(0x11, 0x11, ipv4), "neither LOCAL nor PROXY of version 2"},
      {version_2(0x21, 0x11, ipv4 + std::string(2000, '\0')),
       "the header is larger than the limit"},
  };
  return all;
}

TEST(proxy_header, whole_and_with_the_request_behind_it) {
  for (const auto& [received, outcome] : header_cases()) {
    EXPECT_EQ(described(received), outcome) << received;
    if (outcome != "incomplete") EXPECT_EQ(described(received + "GET / HTTP/1.1\r\n"), outcome);
  }
}

// What is decided stays so, and before that there is nothing but waiting.
TEST(proxy_header, byte_by_byte) {
  for (const auto& [received, outcome] : header_cases()) {
    std::string seen = "incomplete";
    for (std::size_t size = 0; size <= received.size(); ++size) {
      const std::string now = described(received.substr(0, size));
      if (seen != "incomplete") ASSERT_EQ(now, seen) << size << " bytes of " << received;
      seen = now;
    }
    EXPECT_EQ(seen, outcome);
  }
}

TEST(proxy_header, a_checksum_is_verified_over_all_of_it) {
  const std::string before = ipv4 + tlv(1, "h2");
  std::string header = version_2(0x21, 0x11, before + tlv(3, std::string(4, '\0')) + tlv(2, "a.b"));
  const std::uint32_t sum = crc32c(header);
  const std::size_t at = 16 + before.size() + 3;
  for (std::size_t i = 0; i < 4; ++i) header[at + i] = static_cast<char>(sum >> (24 - 8 * i));
  const proxy_outcome found = parse_proxy_header(header, {});
  ASSERT_EQ(found.status, proxy_status::complete) << found.reason;
  EXPECT_EQ(found.header.find(1), "h2");
  EXPECT_EQ(found.header.find(2), "a.b");
  EXPECT_EQ(found.header.find(5), std::nullopt);
  for (std::size_t i = 16; i < header.size(); ++i) {
    if (i == at - 3) continue;  // of another type it is no checksum
    std::string changed = header;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(parse_proxy_header(changed, {}).status, proxy_status::failed) << i;
  }
}

TEST(proxy_header, keeps_to_the_limit) {
  const std::string header = version_2(0x21, 0x11, ipv4 + tlv(4, std::string(9, 'x')));
  EXPECT_EQ(described(header, {.header_bytes = 40}), "40 10.0.0.1 8080 10.0.0.2 443");
  EXPECT_EQ(described(header, {.header_bytes = 39}), "the header is larger than the limit");
}

}  // namespace
}  // namespace weft::http
