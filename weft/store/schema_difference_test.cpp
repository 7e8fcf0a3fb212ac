#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/schema_difference.hpp>

namespace weft::store {
namespace {

const table_definition orders{
    .database = "shop",
    .name = "orders",
    .columns = {{.name = "id", .type = column_type::big_int, .is_nullable = false},
                {.name = "price", .type = column_type::decimal, .precision = 10, .scale = 2}},
    .key = {0},
    .indexes = {{.name = "by_price", .columns = {1}}}};

TEST(schema_differences, are_none_of_schemas_that_are_alike) {
  const std::vector before{orders};
  EXPECT_TRUE(schema_differences(before, before).empty());
  EXPECT_TRUE(schema_differences({}, {}).empty());
}

TEST(schema_differences, name_what_is_missing_new_or_another) {
  table_definition other = orders;
  other.columns[1].scale = 4;
  other.columns.push_back({.name = "note", .type = column_type::text});
  other.key = {0, 1};
  other.indexes = {{.name = "by_price", .columns = {1}, .is_unique = true}};
  table_definition renamed = orders;
  renamed.name = "bills";
  const std::vector<std::string> expected{
      "table orders: the column price is DECIMAL(10,4), and was DECIMAL(10,2)",
      "table orders: the column note TEXT is new",
      "table orders: the key is (id, price), and was (id)",
      "table orders: the index by_price (price) is missing",
      "table orders: the unique index by_price (price) is new",
      "table bills: it is new"};
  EXPECT_EQ(schema_differences(std::vector{orders}, std::vector{other, renamed}), expected);
  EXPECT_EQ(schema_differences(std::vector{orders}, {}),
            std::vector<std::string>{"table orders: it is missing"});
}

TEST(schema_differences, name_a_default_that_is_another) {
  table_definition other = orders;
  other.columns[1].has_default = true;
  EXPECT_EQ(schema_differences(std::vector{orders}, std::vector{other}),
            std::vector<std::string>{"table orders: the column price is declared otherwise"});
}

}  // namespace
}  // namespace weft::store
