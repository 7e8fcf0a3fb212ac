#include <weft/store/schema_change.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft::store {
namespace {

/// Of tables t and u, whose only column is of these types.
catalog_ref schema_of(column_type t, column_type u) {
  std::vector<table_definition> tables;
  for (const auto& [name, type] : {std::pair{"t", t}, std::pair{"u", u}})
    tables.push_back(
        {.database = "shop", .name = name, .columns = {{.name = "id", .type = type}}, .key = {0}});
  std::vector<catalog::database_definition> databases;
  databases.push_back({.name = "shop", .tables = std::move(tables)});
  return catalog_ref{std::make_unique<const catalog>(std::move(databases))};
}

struct noted_failures final : write_sink {
  std::string text;
  void done(std::size_t) override { text += "ok "; }
  void missing(std::size_t) override { text += "- "; }
  void failed(std::size_t operation, const failure& why) override {
    text.append(std::to_string(operation)).append(to_string(why.kind)).append(" ");
  }
};

TEST(schema_change, a_table_that_is_the_same_is_found_in_another_catalog) {
  const catalog_ref before = schema_of(column_type::integer, column_type::integer);
  const catalog_ref now = schema_of(column_type::integer, column_type::big_int);
  const table* const t = before->find("shop", "t");
  EXPECT_EQ(before->current(*t), t);
  EXPECT_EQ(now->current(*t), now->find("shop", "t"));
  EXPECT_EQ(now->current(*before->find("shop", "u")), nullptr);
}

TEST(schema_change, all_of_a_batch_fails_where_one_table_is_another) {
  const catalog_ref before = schema_of(column_type::integer, column_type::integer);
  const key_write writes[] = {
      {.kind = write_kind::remove, .to = before->find("shop", "t"), .key = {}},
      {.kind = write_kind::remove, .to = before->find("shop", "u"), .key = {}}};
  noted_failures told;
  EXPECT_TRUE(are_current(*schema_of(column_type::integer, column_type::integer), writes, told));
  EXPECT_EQ(told.text, "");
  EXPECT_FALSE(are_current(*schema_of(column_type::integer, column_type::big_int), writes, told));
  EXPECT_EQ(told.text, "0rolled_back 1schema_changed ");
}

}  // namespace
}  // namespace weft::store
