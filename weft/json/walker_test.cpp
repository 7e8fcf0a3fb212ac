#include <weft/json/walker.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using weft::json::errc;
using weft::json::pointer;
using weft::json::detail::walker;

std::string path_at(std::string_view text, std::size_t offset) {
  walker walk{text};
  return walk.to_token(offset) ? std::string(walk.path().view()) : "nowhere";
}

TEST(json_walker, names_the_path_of_every_byte) {
  constexpr std::string_view text = R"({"a": [10, {"b/~": true}], "c": null})";
  EXPECT_EQ(path_at(text, 0), "");
  EXPECT_EQ(path_at(text, 1), "/a");
  EXPECT_EQ(path_at(text, 4), "/a");
  EXPECT_EQ(path_at(text, text.find('[')), "/a");
  EXPECT_EQ(path_at(text, text.find("10")), "/a/0");
  EXPECT_EQ(path_at(text, text.find("10") + 1), "/a/0");
  EXPECT_EQ(path_at(text, text.find(", {")), "/a/0");
  EXPECT_EQ(path_at(text, text.find("{\"b")), "/a/1");
  EXPECT_EQ(path_at(text, text.find("true")), "/a/1/b~1~0");
  EXPECT_EQ(path_at(text, text.find("}]")), "/a/1");
  EXPECT_EQ(path_at(text, text.find("],")), "/a");
  EXPECT_EQ(path_at(text, text.find("null")), "/c");
  EXPECT_EQ(path_at(text, text.size() - 1), "");
  EXPECT_EQ(path_at(text, text.size()), "nowhere");
}

TEST(json_walker, goes_as_deep_as_allowed_and_no_deeper) {
  using weft::json::max_depth;
  const std::string allowed = std::string(max_depth, '[') + std::string(max_depth, ']');
  EXPECT_TRUE(walker{allowed}.to_end());
  const std::string deeper = "[" + allowed + "]";
  walker walk{deeper};
  EXPECT_FALSE(walk.to_end());
  EXPECT_EQ(walk.failure().code, errc::too_deep);
  EXPECT_EQ(walk.failure().offset, max_depth);
}

TEST(json_walker, fails_at_the_first_byte_that_is_wrong) {
  for (const auto& [text, offset] : {std::pair{"[1,}", 3},
                                     {"[tru]", 4},
                                     {"{\"a\":\"\\q\"}", 7},
                                     {"\"\xc3(\"", 1},
                                     {"[1}", 2},
                                     {"{\"a\" 1}", 5},
                                     {"1 2", 2},
                                     {"-", 1}}) {
    walker walk{text};
    EXPECT_FALSE(walk.to_end()) << text;
    EXPECT_EQ(walk.failure().offset, static_cast<std::size_t>(offset)) << text;
  }
}

TEST(json_pointer, is_cut_at_a_character_when_it_is_full) {
  pointer where;
  for (int i = 0; i < 100; ++i) where.push_name("\u00e9\u00e9");
  EXPECT_TRUE(where.is_cut());
  EXPECT_LE(where.view().size(), pointer::capacity);
  ASSERT_TRUE(where.view().ends_with("..."));
  const std::string_view kept = where.view().substr(0, where.view().size() - 3);
  EXPECT_EQ(static_cast<unsigned char>(kept.back()), 0xA9U) << "not in the middle of a character";
  const std::string whole(where.view());
  where.push_index(7);
  EXPECT_EQ(where.view(), whole);
}

TEST(json_pointer, holds_indices_of_any_size) {
  pointer where;
  where.push_index(0);
  where.push_index(std::string_view::npos);
  EXPECT_EQ(where.view(), "/0/18446744073709551615");
}

}  // namespace
