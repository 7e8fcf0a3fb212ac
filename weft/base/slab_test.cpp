#include <weft/base/slab.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

namespace {

using weft::slab;

struct point {
  int x;
  int y;
};

TEST(slab, constructs_with_the_arguments_and_destroys) {
  const auto watched = std::make_shared<int>(7);
  slab<std::shared_ptr<int>> pool;
  auto* const held = pool.create(watched);
  EXPECT_EQ(**held, 7);
  EXPECT_EQ(watched.use_count(), 2);
  pool.destroy(held);
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(slab, counts_what_is_in_use) {
  slab<point> pool;
  EXPECT_EQ(pool.in_use(), 0U);
  point* const first = pool.create(1, 2);
  point* const second = pool.create(3, 4);
  EXPECT_EQ(pool.in_use(), 2U);
  pool.destroy(first);
  EXPECT_EQ(pool.in_use(), 1U);
  pool.destroy(second);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(slab, hands_out_again_last_in_first_out) {
  slab<point> pool;
  point* const first = pool.create();
  point* const second = pool.create();
  pool.destroy(first);
  pool.destroy(second);
  EXPECT_EQ(pool.create(), second);
  EXPECT_EQ(pool.create(), first);
}

TEST(slab, objects_are_distinct_and_stay_where_they_are_over_many_chunks) {
  slab<point> pool;
  std::vector<point*> objects;
  for (int i = 0; i < 50'000; ++i) objects.push_back(pool.create(i, -i));
  EXPECT_EQ(std::set<point*>(objects.begin(), objects.end()).size(), objects.size());
  for (int i = 0; i < 50'000; ++i) {
    ASSERT_EQ(objects[static_cast<std::size_t>(i)]->x, i);
    ASSERT_EQ(objects[static_cast<std::size_t>(i)]->y, -i);
  }
  EXPECT_EQ(pool.in_use(), 50'000U);
}

template <class T>
void expect_slots_that_fit() {
  slab<T> pool;
  std::set<std::uintptr_t> addresses;
  for (int i = 0; i < 100; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(pool.create());
    EXPECT_EQ(address % alignof(T), 0U);
    addresses.insert(address);
  }
  std::uintptr_t end_of_previous = 0;
  for (const std::uintptr_t address : addresses) {
    EXPECT_GE(address, end_of_previous);
    end_of_previous = address + sizeof(T);
  }
}

TEST(slab, suits_any_size_and_alignment) {
  struct alignas(64) cache_line {
    char bytes[64];
  };
  struct larger_than_a_chunk {
    char bytes[100'000];
  };
  struct odd {
    char bytes[13];
  };
  expect_slots_that_fit<char>();
  expect_slots_that_fit<odd>();
  expect_slots_that_fit<cache_line>();
  expect_slots_that_fit<larger_than_a_chunk>();
}

TEST(slab, a_constructor_that_throws_leaves_the_slot_free) {
  struct picky {
    explicit picky(bool accept) {
      if (!accept) throw std::runtime_error("refused");
    }
    std::int64_t value = 0;
  };
  slab<picky> pool;
  picky* const first = pool.create(true);
  pool.destroy(first);
  EXPECT_THROW(static_cast<void>(pool.create(false)), std::runtime_error);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.create(true), first);
}

TEST(slab, does_not_destroy_what_is_still_in_use) {
  struct counted {
    int* ends;
    ~counted() { ++*ends; }
  };
  int ends = 0;
  {
    slab<counted> pool;
    static_cast<void>(pool.create(&ends));
  }
  EXPECT_EQ(ends, 0);
}

TEST(slab, free_slots_are_poisoned) {
  slab<point> pool;
  point* const object = pool.create();
  EXPECT_FALSE(weft::is_poisoned(object));
  EXPECT_EQ(weft::is_poisoned(object + 1), WEFT_ADDRESS_SANITIZER == 1);  // never handed out yet
  pool.destroy(object);
  EXPECT_EQ(weft::is_poisoned(object), WEFT_ADDRESS_SANITIZER == 1);
  EXPECT_FALSE(weft::is_poisoned(pool.create()));
}

#if WEFT_ADDRESS_SANITIZER
TEST(slab, use_and_destroy_after_destroy_are_caught) {
  slab<point> pool;
  point* const object = pool.create(1, 2);
  pool.destroy(object);
  EXPECT_DEATH(*static_cast<volatile int*>(&object->x) = 3, "use-after-poison");
  EXPECT_DEATH(pool.destroy(object), "destroyed before");
}
#endif

#ifndef NDEBUG
TEST(slab, refuses_null_in_debug_builds) {
  slab<point> pool;
  EXPECT_DEATH(pool.destroy(nullptr), "takes what create");
}
#endif

}  // namespace
