#include <weft/http/websocket/utf8_checker.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/random.hpp>
#include <weft/base/utf8.hpp>

namespace weft::http::ws {
namespace {

bool checked_in_two(std::string_view text, std::size_t cut) {
  utf8_checker checker;
  return checker.feed(text.substr(0, cut)) && checker.feed(text.substr(cut)) && checker.is_whole();
}

TEST(utf8_checker, agrees_with_the_one_of_whole_texts_wherever_it_is_cut) {
  random draw{7};
  const std::string_view parts[] = {"a",
                                    "plain text of some length",
                                    "\xc3\xa9",
                                    "\xe2\x82\xac",
                                    "\xf0\x9d\x84\x9e",
                                    "\xed\xa0\x80",
                                    "\xc0\xaf",
                                    "\xf4\x90\x80\x80",
                                    "\xe2\x82",
                                    "\x80",
                                    "\xff"};
  int whole = 0;
  for (int round = 0; round != 3000; ++round) {
    std::string text;
    const std::size_t known = round % 2 == 0 ? 5 : std::size(parts);
    for (std::uint64_t left = draw.below(8); left != 0; --left) text += parts[draw.below(known)];
    const bool is_one = is_utf8(text);
    whole += is_one ? 1 : 0;
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
      ASSERT_EQ(checked_in_two(text, cut), is_one) << round << " cut at " << cut;
  }
  EXPECT_GT(whole, 500);
}

TEST(utf8_checker, agrees_on_every_three_bytes) {
  for (unsigned first = 0x7f; first != 0x100; ++first) {
    for (unsigned second = 0x7e; second != 0xc2; ++second) {
      for (const unsigned third : {0x00U, 0x7fU, 0x80U, 0xbfU, 0xc0U}) {
        const char bytes[] = {static_cast<char>(first), static_cast<char>(second),
                              static_cast<char>(third)};
        const std::string_view text{bytes, 3};
        for (std::size_t cut = 0; cut <= 3; ++cut)
          ASSERT_EQ(checked_in_two(text, cut), is_utf8(text)) << first << " " << second;
      }
    }
  }
}

TEST(utf8_checker, tells_as_soon_as_it_can_be_told) {
  for (const std::string_view wrong :
       {"\xed\xa0", "\xe0\x9f", "\xf0\x8f", "\xf4\x90", "\xc1", "\xf5"}) {
    utf8_checker checker;
    EXPECT_FALSE(checker.feed(wrong));
    EXPECT_FALSE(checker.feed("a"));
  }
  for (const std::string_view begun : {"\xed\x9f", "\xe0\xa0", "\xf0\x90", "\xf4\x8f", "\xc2"}) {
    utf8_checker checker;
    EXPECT_TRUE(checker.feed(begun));
    EXPECT_FALSE(checker.is_whole());
  }
}

}  // namespace
}  // namespace weft::http::ws
