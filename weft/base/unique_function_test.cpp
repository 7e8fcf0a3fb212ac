#include <weft/base/unique_function.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace {

using weft::unique_function;

using int_function = unique_function<int(int)>;
static_assert(std::is_nothrow_move_constructible_v<int_function>);
static_assert(std::is_nothrow_move_assignable_v<int_function>);
static_assert(!std::is_copy_constructible_v<int_function>);
static_assert(sizeof(int_function) == 56);
static_assert(std::is_constructible_v<int_function, long (*)(int)>);
static_assert(!std::is_constructible_v<int_function, std::string (*)(int)>);
static_assert(!std::is_constructible_v<int_function, int (*)(std::string)>);
static_assert(std::is_constructible_v<unique_function<void()>, int (*)()>);

// Counts objects alive; Padding decides whether one fits inside.
template <std::size_t Padding, bool NothrowMove = true>
struct counted {
  explicit counted(int& alive) : alive_(&alive) { ++*alive_; }
  counted(counted&& other) noexcept(NothrowMove) : alive_(other.alive_) { ++*alive_; }
  ~counted() { --*alive_; }
  const void* operator()() { return this; }

  int* alive_;
  std::array<char, Padding> padding_{};
};

using small = counted<8>;
using large = counted<200>;
using throwing = counted<8, false>;

bool is_inside(const void* part, const unique_function<const void*()>& whole) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&whole);
  const auto* const at = static_cast<const std::byte*>(part);
  return at >= begin && at < begin + sizeof(whole);
}

TEST(unique_function, calls_functions_lambdas_and_move_only_callables) {
  int_function plain = +[](int x) { return x + 1; };
  int_function owning = [base = std::make_unique<int>(40)](int x) { return *base + x; };
  EXPECT_EQ(plain(1), 2);
  EXPECT_EQ(owning(2), 42);
}

TEST(unique_function, keeps_state_between_calls) {
  unique_function<int()> count = [n = 0]() mutable { return ++n; };
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(), 2);
  unique_function<int()> moved = std::move(count);
  EXPECT_EQ(moved(), 3);
}

TEST(unique_function, is_empty_when_nothing_was_given_or_it_was_moved_from) {
  int_function empty;
  int_function null = nullptr;
  EXPECT_FALSE(empty);
  EXPECT_FALSE(null);
  int_function full = [](int x) { return x; };
  EXPECT_TRUE(full);
  int_function target = std::move(full);
  EXPECT_FALSE(full);  // NOLINT(bugprone-use-after-move): what this test is about
  EXPECT_TRUE(target);
  target = nullptr;
  EXPECT_FALSE(target);
}

TEST(unique_function, small_callables_live_inside_and_others_on_the_heap) {
  int alive = 0;
  unique_function<const void*()> fits = small(alive);
  unique_function<const void*()> too_large = large(alive);
  unique_function<const void*()> may_throw = throwing(alive);
  EXPECT_TRUE(is_inside(fits(), fits));
  EXPECT_FALSE(is_inside(too_large(), too_large));
  EXPECT_FALSE(is_inside(may_throw(), may_throw));

  struct alignas(64) aligned {
    const void* operator()() { return this; }
  };
  unique_function<const void*()> over_aligned = aligned{};
  EXPECT_FALSE(is_inside(over_aligned(), over_aligned));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(over_aligned()) % 64, 0U);
}

TEST(unique_function, the_inline_size_is_the_users_choice) {
  int alive = 0;
  unique_function<const void*(), 256> roomy = large(alive);
  const auto* const begin = reinterpret_cast<const std::byte*>(&roomy);
  const auto* const at = static_cast<const std::byte*>(roomy());
  EXPECT_TRUE(at >= begin && at < begin + sizeof(roomy));
}

template <class F>
void expect_each_object_destroyed_once() {
  int alive = 0;
  {
    unique_function<const void*()> first = F(alive);
    EXPECT_EQ(alive, 1);
    unique_function<const void*()> second = std::move(first);
    EXPECT_EQ(alive, 1);
    unique_function<const void*()> third = F(alive);
    EXPECT_EQ(alive, 2);
    third = std::move(second);
    EXPECT_EQ(alive, 1);
    auto& same = third;
    third = std::move(same);
    EXPECT_TRUE(third);
    EXPECT_EQ(alive, 1);
    third.reset();
    EXPECT_EQ(alive, 0);
    third = F(alive);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(unique_function, destroys_each_callable_once) {
  expect_each_object_destroyed_once<small>();
  expect_each_object_destroyed_once<large>();
  expect_each_object_destroyed_once<throwing>();
}

TEST(unique_function, a_heap_callable_does_not_move_with_it) {
  int alive = 0;
  unique_function<const void*()> first = large(alive);
  const void* const before = first();
  unique_function<const void*()> second = std::move(first);
  EXPECT_EQ(second(), before);
}

TEST(unique_function, passes_arguments_without_copies) {
  struct tracked {
    tracked() = default;
    tracked(tracked&& other) noexcept : moves(other.moves + 1) {}
    int moves = 0;
  };
  unique_function<int(tracked&&)> by_reference = [](tracked&& t) { return t.moves; };
  EXPECT_EQ(by_reference(tracked{}), 0);
  unique_function<int(tracked)> by_value = [](tracked t) { return t.moves; };
  EXPECT_EQ(by_value(tracked{}), 1);
  unique_function<void(int&)> writes = [](int& x) { x = 5; };
  int written = 0;
  writes(written);
  EXPECT_EQ(written, 5);
}

TEST(unique_function, gives_back_references_and_move_only_results) {
  int value = 3;
  unique_function<int&()> reference = [&value]() -> int& { return value; };
  EXPECT_EQ(&reference(), &value);
  unique_function<std::unique_ptr<int>()> owner = [] { return std::make_unique<int>(9); };
  EXPECT_EQ(*owner(), 9);
}

TEST(unique_function, void_drops_the_result) {
  int calls = 0;
  unique_function<void()> f = [&calls] { return ++calls; };
  f();
  EXPECT_EQ(calls, 1);
}

TEST(unique_function, wrong_use_asserts) {
  int_function empty;
  EXPECT_DEATH(empty(1), "an empty unique_function was called");
  int_function moved_from = [](int x) { return x; };
  const int_function target = std::move(moved_from);
  EXPECT_DEATH(moved_from(1),
               "an empty unique_function was called");  // NOLINT(bugprone-use-after-move)
  int (*const null)(int) = nullptr;
  EXPECT_DEATH(int_function{null}, "null function pointer");
}

}  // namespace
