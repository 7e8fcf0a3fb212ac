#include <weft/store/distinct_names.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace weft::store {
namespace {

TEST(distinct_names, have_a_number_from_the_second_on) {
  distinct_names names;
  EXPECT_EQ(names.add("id"), "id");
  EXPECT_EQ(names.add("name"), "name");
  EXPECT_EQ(names.add("id"), "id:1");
  EXPECT_EQ(names.add("id"), "id:2");
  EXPECT_EQ(names.add("id:1"), "id:1:1");
  EXPECT_EQ(names.add("id:4"), "id:4");
  EXPECT_EQ(names.add("id"), "id:3");
  EXPECT_EQ(names.add("id"), "id:5");
  EXPECT_EQ(names.add(""), "");
  EXPECT_EQ(names.add(""), ":1");
}

TEST(distinct_names, are_of_bounded_length) {
  distinct_names names;
  EXPECT_EQ(names.add(std::string(300, 'x')), std::string(256, 'x'));
  EXPECT_EQ(names.add(std::string(400, 'x')), std::string(256, 'x') + ":1");
  EXPECT_EQ(names.add(std::string(255, 'y') + "\xC3\xBC"), std::string(255, 'y'));
}

TEST(distinct_names, are_found_for_very_many) {
  distinct_names names;
  std::set<std::string> all;
  for (int i = 0; i < 100'000; ++i) all.insert(names.add("a"));
  for (int i = 0; i < 100'000; ++i) all.insert(names.add("a:" + std::to_string(i)));
  EXPECT_EQ(all.size(), 200'000U);
}

}  // namespace
}  // namespace weft::store
