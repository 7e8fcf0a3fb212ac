#include <weft/store/catalog.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/scratch.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::store {
namespace {

table_definition wide_table(std::string name, std::size_t columns) {
  table_definition made{.database = "shop", .name = std::move(name)};
  for (std::size_t i = 0; i < columns; ++i)
    made.columns.push_back({.name = "column_" + std::to_string(i)});
  made.key = {1, 0};
  return made;
}

catalog_ref small_catalog() {
  std::vector<catalog::database_definition> databases;
  databases.push_back({"shop", {}});
  databases.back().tables.push_back(wide_table("narrow", 3));
  databases.back().tables.push_back(wide_table("wide", 100));
  databases.push_back({"empty", {}});
  return catalog_ref{std::make_unique<const catalog>(std::move(databases))};
}

TEST(catalog, finds_databases_tables_and_columns_by_their_exact_name) {
  const catalog_ref all = small_catalog();
  EXPECT_TRUE(all->has("empty"));
  EXPECT_FALSE(all->has("Shop"));
  EXPECT_EQ(all->find("shop", "none"), nullptr);
  EXPECT_EQ(all->find("none", "wide"), nullptr);
  for (const std::string name : {"narrow", "wide"}) {
    const table* const found = all->find("shop", name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(&found->owner(), all.get());
    EXPECT_EQ(found->find("column_2"), 2);
    EXPECT_EQ(found->find("Column_2"), std::nullopt);
    EXPECT_EQ(found->place_in_key(0), 1U);
    EXPECT_EQ(found->place_in_key(2), std::nullopt);
    EXPECT_EQ(found->values().size(), found->columns().size() - 2);
    EXPECT_EQ(found->values().front(), 2);
  }
}

TEST(catalog, lives_as_long_as_somebody_refers_to_it) {
  catalog_ref first = small_catalog();
  const catalog_ref second = first;
  first = small_catalog();
  EXPECT_NE(first.get(), second.get());
  EXPECT_NE(second->find("shop", "wide"), nullptr);
  const catalog_ref third = std::move(first);
  EXPECT_TRUE(third);
  EXPECT_FALSE(catalog_ref{});
}

TEST(catalog, looks_up_without_allocating) {
  const catalog_ref all = small_catalog();
  const testing::allocation_counter since;
  EXPECT_TRUE(all->find("shop", "wide")->find("column_99"));
  EXPECT_EQ(since.allocations(), 0U);
}

TEST(scratch, keeps_what_it_gave_and_its_memory) {
  scratch room;
  std::vector<std::string_view> given;
  const auto fill = [&] {
    room.clear();
    given.clear();
    for (std::size_t i = 0; i < 50; ++i) given.push_back(room.copy(std::string(i * 20, 'x')));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(room.make_array<double>(3).data()) % 8, 0U);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(given[i], std::string(i * 20, 'x'));
  };
  fill();
  fill();
  room.clear();
  const testing::allocation_counter since;
  for (std::size_t i = 0; i < 50; ++i) static_cast<void>(room.make(i * 20));
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(room.make(2 * scratch::kept_bytes).size(), 2 * scratch::kept_bytes);
}

}  // namespace
}  // namespace weft::store
