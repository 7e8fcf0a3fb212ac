#include <weft/http/http2/frame_walker.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::http::http2 {
namespace {

TEST(http2_frame_walker, finds_heads_however_the_input_is_cut) {
  const std::string input = std::string{"PRE"} + std::string{"\0\0\2\1\5\x80\0\0\3ab", 11} +
                            std::string{"\0\0\0\4\0\0\0\0\0", 9} +
                            std::string{"\0\1\0\0\1\0\0\1\0", 9};
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    frame_walker walker{3};
    std::vector<frame_head> heads;
    for (std::size_t at = 0; at < input.size(); at += piece)
      for (std::string_view rest = std::string_view{input}.substr(at, piece);
           const auto head = walker.next(rest);)
        heads.push_back(*head);
    ASSERT_EQ(heads.size(), 3U) << piece;
    EXPECT_EQ(heads[0].length, 2U);
    EXPECT_EQ(heads[0].type, 1);
    EXPECT_EQ(heads[0].flags, 5);
    EXPECT_EQ(heads[0].stream, 3);
    EXPECT_EQ(heads[1].type, 4);
    EXPECT_EQ(heads[2].length, 256U);
    EXPECT_EQ(heads[2].stream, 256);
  }
}

}  // namespace
}  // namespace weft::http::http2
