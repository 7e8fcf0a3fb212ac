#include <weft/service/config_depth.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <weft/service/config.hpp>
#include <weft/service/config_file.hpp>

namespace weft::detail {
namespace {

std::string joined_by(std::string_view separator, std::string_view part, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all.append(i == 0 ? "" : separator).append(part);
  return all;
}

/// What becomes of a file: "" or what is wrong with it.
std::string fault_of(const std::string& text) {
  const auto read = parse_toml(text, "f");
  return read ? std::string{} : read.error();
}

bool is_too_deep_at(const std::string& text, const std::string& place) {
  return fault_of(text) == "f:" + place + ": names and values nest more than 32 deep";
}

TEST(config_depth, names_have_32_parts_at_most) {
  const std::string most = joined_by(".", "a", 32);
  EXPECT_EQ(fault_of(most + " = 1"), "");
  EXPECT_EQ(fault_of("[" + most + "]\nb = 1"), "");
  EXPECT_EQ(fault_of("[[" + most + "]]\n" + most + " = { " + most + " = 1.5 }"), "");
  EXPECT_TRUE(is_too_deep_at(most + ".a = 1", "1:64"));
  EXPECT_TRUE(is_too_deep_at("b = 1\n[" + most + ".a]\n", "2:65"));
  EXPECT_TRUE(is_too_deep_at("b = { " + most + " . 'a' = 1 }", "1:71"));
}

TEST(config_depth, lists_and_tables_stand_32_deep_in_each_other_at_most) {
  const auto lists = [](std::size_t depth) {
    return "a = " + std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(fault_of(lists(32)), "");
  EXPECT_TRUE(is_too_deep_at(lists(33), "1:37"));
  EXPECT_TRUE(is_too_deep_at("a = " + joined_by("b = ", "{ ", 40), "1:197"));
}

/// As deep as a megabyte of text can be.
TEST(config_depth, no_file_ends_the_stack) {
  for (const std::string_view part : {"a", "'a'", "\"a\"", "a ", "\"\\\"\""}) {
    const std::string name = joined_by(".", part, 150'000);
    for (const std::string& text : {name + "=1", "[" + name + "]", "[[" + name + "]]",
                                    "a={" + name + "=1}", "a=[{" + name + "=1}]"})
      EXPECT_NE(fault_of(text), "") << text.substr(0, 20);
  }
  for (const std::string_view open : {"[", "{a=", "[{a=", "{a=["})
    EXPECT_NE(fault_of("a=" + joined_by("", open, 200'000)), "");
}

/// The whole of 32 within each other, each with a name of as many parts.
TEST(config_depth, what_passes_is_read_and_freed) {
  const std::string name = joined_by(".", "a", 32);
  std::string text = "[" + name + "]\n" + name + " = ";
  for (int i = 0; i < 31; ++i) text += "{" + name + "=";
  EXPECT_EQ(fault_of(text + "1" + std::string(31, '}')), "");
}

TEST(config_depth, dots_and_brackets_in_strings_and_comments_count_nothing) {
  const std::string dots(100, '.');
  const std::string brackets(100, '[');
  for (const std::string_view quote : {"\"", "'", "\"\"\"", "'''"})
    for (const std::string& inside : {dots, brackets}) {
      const std::string text = std::string{quote} + inside + std::string{quote};
      EXPECT_EQ(fault_of("a = " + text + "\nb = 1 # " + inside + "\n"), "") << text;
    }
  EXPECT_EQ(fault_of("a = \"\"\"\"\"" + dots + "\\\"\"\"" + brackets + "\n''\n\"\"\"\"\"\nb = 1"),
            "");
  EXPECT_EQ(fault_of("a = ''''" + dots + "\"\n" + brackets + "'''''\nb = 1"), "");
  EXPECT_EQ(fault_of("\"" + dots + "\" = \"\\\\\" # \"" + dots), "");
}

TEST(config_depth, no_string_hides_what_follows_it) {
  const std::string deep = joined_by(".", "a", 40) + " = 1";
  for (const std::string_view before :
       {"a = \"x\"", "a = 'x'", R"(a = "\"")", R"(a = "\\")", "a = '\\'", "a = \"\"", "a = ''",
        "a = \"\"\"x\"\"\"", "a = '''x'''", "a = \"\"\"\"\"\"", "a = \"\"\"\"\"\"\"\"",
        "a = '''''x'''''", "a = \"\"\"\\\"\"\"\"", "# '", "# \"\"\"", "a = 1 # '''"})
    EXPECT_EQ(find_too_deep(std::string{before} + "\n" + deep).value_or(text_place{}).line, 2U)
        << before;
}

struct plain_options {
  int a = 0;
};

TEST(config_depth, assignments_are_bounded_as_well) {
  config given;
  plain_options options;
  given.bind("s", options);
  EXPECT_TRUE(given.assign("s." + joined_by(".", "a", 100'000) + "=1", {}));
  const auto faults = given.apply();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults.front().ends_with("...: its name has more than 32 parts")) << faults.front();
  EXPECT_LT(faults.front().size(), 200U);
}

}  // namespace
}  // namespace weft::detail
