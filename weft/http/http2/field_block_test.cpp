#include <weft/http/http2/field_block.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::http::http2 {
namespace {

TEST(http2_field_block, takes_lines_apart) {
  field_block block;
  const std::string_view lines =
      "X-One: 1\r\nConnection: close\r\nno colon\r\nTWO:2\r\nThree:  3 \r\nKeep-Alive: x";
  block.begin(lines.size());
  block.add(":status", "200");
  block.add_lines(lines);
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const nghttp2_nv& each = block.data()[i];
    seen.push_back(std::string{reinterpret_cast<const char*>(each.name), each.namelen} + "=" +
                   std::string{reinterpret_cast<const char*>(each.value), each.valuelen});
  }
  EXPECT_EQ(seen, (std::vector<std::string>{":status=200", "x-one=1", "two=2", "three=3"}));
}

}  // namespace
}  // namespace weft::http::http2
