#include <weft/http/http2/stream_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::http::http2 {
namespace {

struct numbered : stream_table<numbered>::entry {
  using entry::entry;
};

TEST(http2_stream_table, finds_what_is_in_it) {
  stream_table<numbered> table;
  std::vector<std::unique_ptr<numbered>> all;
  for (std::int32_t id = 1; id < 200; id += 2)
    table.add(*all.emplace_back(std::make_unique<numbered>(id)));
  EXPECT_EQ(table.size(), 100U);
  for (const auto& each : all) EXPECT_EQ(table.find(each->id()), each.get());
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(201), nullptr);
  for (std::size_t i = 0; i < all.size(); i += 2) table.remove(*all[i]);
  EXPECT_EQ(table.size(), 50U);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(table.find(all[i]->id()), i % 2 == 0 ? nullptr : all[i].get());
  for (std::size_t i = 1; i < all.size(); i += 2) table.remove(*all[i]);
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace weft::http::http2
