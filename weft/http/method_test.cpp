#include <weft/http/method.hpp>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(method, every_name_is_read_back) {
  for (std::size_t i = 0; i < method_count; ++i) {
    const auto which = static_cast<method>(i);
    EXPECT_EQ(parse_method(to_string(which)), which);
  }
}

TEST(method, names_are_compared_exactly) {
  EXPECT_EQ(parse_method("get"), std::nullopt);
  EXPECT_EQ(parse_method("GE"), std::nullopt);
  EXPECT_EQ(parse_method("GETS"), std::nullopt);
  EXPECT_EQ(parse_method(""), std::nullopt);
}

TEST(method_set, holds_what_was_inserted) {
  method_set some;
  EXPECT_TRUE(some.empty());
  some.insert(method::patch);
  some.insert(method::get);
  EXPECT_TRUE(some.contains(method::get));
  EXPECT_TRUE(some.contains(method::patch));
  EXPECT_FALSE(some.contains(method::post));
  EXPECT_FALSE(some.empty());
}

TEST(method_set, text_is_an_allow_value) {
  std::array<char, method_set::text_capacity> room;
  method_set some;
  EXPECT_EQ(some.text(room), "");
  some.insert(method::delete_);
  EXPECT_EQ(some.text(room), "DELETE");
  some.insert(method::get);
  EXPECT_EQ(some.text(room), "GET, DELETE");
}

TEST(method_set, text_of_all_methods_fits) {
  std::array<char, method_set::text_capacity> room;
  method_set all;
  for (std::size_t i = 0; i < method_count; ++i) all.insert(static_cast<method>(i));
  EXPECT_EQ(all.text(room), "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH");
}

}  // namespace
}  // namespace weft::http
