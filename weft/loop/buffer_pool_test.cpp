#include <weft/loop/buffer_pool.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <weft/base/poison.hpp>

namespace weft {
namespace {

buffer_ref filled(buffer_pool& pool, std::string_view text) {
  buffer_ref bytes = pool.acquire();
  std::memcpy(bytes.data(), text.data(), text.size());
  bytes.resize(text.size());
  return bytes;
}

TEST(buffer_pool, lends_and_takes_back) {
  buffer_pool pool;
  EXPECT_EQ(pool.in_use(), 0U);
  {
    const buffer_ref bytes = pool.acquire();
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(bytes.empty());
    EXPECT_EQ(bytes.capacity(), buffer_pool::slot_capacity);
    EXPECT_EQ(pool.in_use(), 1U);
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(buffer_pool, a_buffer_is_a_window_on_its_slot) {
  buffer_pool pool;
  buffer_ref bytes = filled(pool, "GET / HTTP/1.1");
  EXPECT_EQ(bytes.text(), "GET / HTTP/1.1");
  EXPECT_EQ(bytes.bytes().size(), 14U);
  bytes.remove_prefix(4);
  EXPECT_EQ(bytes.text(), "/ HTTP/1.1");
  EXPECT_EQ(bytes.capacity(), buffer_pool::slot_capacity - 4);
  bytes.resize(1);
  EXPECT_EQ(bytes.text(), "/");
  bytes.remove_prefix(1);
  EXPECT_TRUE(bytes.empty());
  EXPECT_TRUE(bytes) << "an empty buffer holds its slot";
}

TEST(buffer_pool, a_buffer_moves_and_leaves_nothing_behind) {
  buffer_pool pool;
  buffer_ref first = filled(pool, "first");
  buffer_ref second = filled(pool, "second");
  buffer_ref moved{std::move(first)};
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what is looked at
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(moved.text(), "first");
  second = std::move(moved);
  EXPECT_EQ(second.text(), "first");
  EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(pool.in_use(), 1U);
  second.reset();
  second.reset();
  EXPECT_FALSE(second);
  EXPECT_TRUE(second.text().empty());
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(buffer_pool, an_empty_reference_holds_nothing) {
  buffer_ref none;
  EXPECT_FALSE(none);
  EXPECT_TRUE(none.text().empty());
  EXPECT_TRUE(none.bytes().empty());
  none.reset();
}

TEST(buffer_pool, the_last_slot_given_back_is_the_next_one_lent) {
  buffer_pool pool;
  buffer_ref first = pool.acquire();
  buffer_ref second = pool.acquire();
  const char* const warm = first.data();
  second.reset();
  first.reset();
  EXPECT_EQ(pool.acquire().data(), warm);
}

TEST(buffer_pool, slots_do_not_overlap_and_stay_where_they_are) {
  buffer_pool pool{1'024};
  std::vector<buffer_ref> all;
  std::set<const char*> places;
  while (buffer_ref bytes = pool.acquire()) {
    // Wide scans read behind the capacity; what they find there is nobody's.
    std::memset(bytes.data(), static_cast<int>(all.size() % 251),
                bytes.capacity() + buffer_pool::slack);
    bytes.resize(bytes.capacity());
    places.insert(bytes.data());
    all.push_back(std::move(bytes));
  }
  EXPECT_EQ(all.size(), 1'024U);
  EXPECT_EQ(places.size(), 1'024U);
  EXPECT_EQ(pool.in_use(), 1'024U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto mark = static_cast<char>(static_cast<unsigned char>(i % 251));
    ASSERT_EQ(all[i].text().find_first_not_of(mark), std::string_view::npos) << i;
  }
}

TEST(buffer_pool, at_its_limit_it_gives_empty_references_until_a_slot_comes_back) {
  buffer_pool pool{256};
  std::vector<buffer_ref> all;
  for (int i = 0; i < 256; ++i) all.push_back(pool.acquire());
  EXPECT_TRUE(all.back());
  EXPECT_FALSE(pool.acquire());
  std::uint32_t slot = 0;
  EXPECT_FALSE(pool.take(slot));
  all.pop_back();
  EXPECT_TRUE(pool.acquire());
}

TEST(buffer_pool, slots_are_lent_by_number_to_backends) {
  buffer_pool pool;
  std::uint32_t slot = 0;
  ASSERT_TRUE(pool.take(slot));
  EXPECT_EQ(pool.in_use(), 1U);
  std::memcpy(pool.address(slot), "from the kernel", 15);
  {
    const buffer_ref bytes = pool.adopt(slot, 15);
    EXPECT_EQ(bytes.text(), "from the kernel");
    EXPECT_EQ(bytes.data(), pool.address(slot));
  }
  EXPECT_EQ(pool.in_use(), 0U);
  ASSERT_TRUE(pool.take(slot));
  pool.release(slot);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(buffer_pool, a_free_slot_is_out_of_bounds) {
  if (WEFT_ADDRESS_SANITIZER == 0) GTEST_SKIP() << "only AddressSanitizer can tell";
  buffer_pool pool;
  buffer_ref bytes = pool.acquire();
  const char* const place = bytes.data();
  EXPECT_FALSE(is_poisoned(place));
  EXPECT_FALSE(is_poisoned(place + buffer_pool::slot_bytes - 1));
  EXPECT_TRUE(is_poisoned(place + buffer_pool::slot_bytes));
  bytes.reset();
  EXPECT_TRUE(is_poisoned(place));
}

}  // namespace
}  // namespace weft
