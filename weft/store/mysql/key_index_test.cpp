#include <weft/store/mysql/key_index.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

std::string found_by(const key_index& of, std::vector<value> key) {
  std::string numbers;
  of.for_each(key, [&](std::size_t operation) { numbers += std::to_string(operation) + ' '; });
  return numbers;
}

std::vector<key_read> reads_of(const std::vector<std::vector<value>>& keys) {
  std::vector<key_read> made;
  for (const std::vector<value>& key : keys) made.push_back({nullptr, key, {}});
  return made;
}

TEST(mysql_key_index_test, finds_every_operation_of_a_key_and_no_other) {
  std::vector<std::vector<value>> keys;
  for (std::int64_t i = 0; i < 128; ++i) keys.push_back({value::integer(i * 256 - 7000)});
  keys[100] = keys[3];
  const std::vector<key_read> reads = reads_of(keys);
  std::vector<std::size_t> asked(reads.size());
  std::iota(asked.begin(), asked.end(), 0U);
  const key_index index{reads, asked};
  EXPECT_EQ(found_by(index, keys[3]), "3 100 ");
  EXPECT_EQ(found_by(index, {value::integer(-6999)}), "");
  for (std::size_t i = 4; i < 100; ++i)
    EXPECT_EQ(found_by(index, keys[i]), std::to_string(i) + ' ');
}

TEST(mysql_key_index_test, takes_values_for_the_same_that_are_told_in_two_ways) {
  const std::vector<std::vector<value>> keys{{value::integer(5), value::text("a")},
                                             {value::integer(-1), value::text("a")},
                                             {value::natural(UINT64_MAX), value::bytes("a")},
                                             {value::integer(5), value::text("A")}};
  const std::vector<key_read> reads = reads_of(keys);
  const std::size_t asked[] = {0, 1, 2, 3};
  const key_index index{reads, asked};
  EXPECT_EQ(found_by(index, {value::natural(5), value::bytes("a")}), "0 ");
  EXPECT_EQ(found_by(index, {value::integer(-1), value::bytes("a")}), "1 ");
  EXPECT_EQ(found_by(index, {value::natural(UINT64_MAX), value::text("a")}), "2 ");
  EXPECT_EQ(found_by(index, {value::integer(5), value::text("A")}), "3 ");
  const key_index others{reads, std::span{asked}.subspan(1, 2)};
  EXPECT_EQ(found_by(others, {value::integer(5), value::text("a")}), "");
}

}  // namespace
}  // namespace weft::store::mysql
