#include <weft/http/multipart_ranges.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

std::string body_of(const multipart_ranges& parts, std::string_view file, const range_set& asked) {
  std::string body;
  for (const byte_range each : asked.all()) {
    parts.append_head(each, body);
    body.append(file.substr(each.first, each.size_bytes()));
  }
  parts.append_end(body);
  return body;
}

TEST(multipart_ranges, are_parts_whose_size_is_known_before) {
  const std::string file = std::string(100, 'a') + std::string(100, 'b') + std::string(100, 'c');
  const range_set asked = parse_ranges("bytes=0-1, 298-", file.size());
  const multipart_ranges parts{"B", "text/plain", file.size()};
  const std::string body = body_of(parts, file, asked);
  EXPECT_EQ(body,
            "\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/300\r\n\r\naa"
            "\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 298-299/300\r\n\r\ncc"
            "\r\n--B--\r\n");
  EXPECT_EQ(parts.size_bytes(asked.all()), body.size());
}

TEST(multipart_ranges, may_have_no_type) {
  const std::string file(1000, 'x');
  const range_set asked = parse_ranges("bytes=0-9,200-209,999-", file.size());
  const multipart_ranges parts{"boundary", "", file.size()};
  const std::string body = body_of(parts, file, asked);
  EXPECT_FALSE(body.contains("Content-Type"));
  EXPECT_EQ(parts.size_bytes(asked.all()), body.size());
}

}  // namespace
}  // namespace weft::http
