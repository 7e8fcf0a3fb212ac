#include <weft/store/failure.hpp>

#include <cstddef>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::store {
namespace {

TEST(failure, has_a_name_of_its_own_for_each_kind) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < failure_kinds; ++i) {
    const std::string_view name = to_string(static_cast<failure_kind>(i));
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(to_string(failure_kind::busy), "busy");
  EXPECT_EQ(to_string(failure_kind::schema_changed), "schema_changed");
}

}  // namespace
}  // namespace weft::store
