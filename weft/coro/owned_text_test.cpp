#include <weft/coro/owned_text.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <weft/coro/task_fixture_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using owned_text_test = task_fixture;

task<std::string> copy_of(owned_text text) { co_return std::string{text.view()}; }

TEST_F(owned_text_test, keeps_what_it_was_made_of) {
  std::string given(100, 'a');
  const owned_text kept{given};
  given.assign(100, 'b');
  EXPECT_EQ(kept.view(), std::string(100, 'a'));
  EXPECT_EQ(owned_text{"literal"}.view(), "literal");
  EXPECT_EQ(owned_text{std::string_view{"view"}}.view(), "view");
  EXPECT_EQ(owned_text{}.view(), "");
  EXPECT_EQ(owned_text{std::string{}}.view(), "");
}

TEST_F(owned_text_test, leaves_the_text_where_it_is_when_it_moves) {
  owned_text first{std::string(100, 'a')};
  const char* const where = first.view().data();
  owned_text second{std::move(first)};
  EXPECT_EQ(second.view().data(), where);
  owned_text third;
  third = std::move(second);
  EXPECT_EQ(third.view().data(), where);
  EXPECT_EQ(third.view(), std::string(100, 'a'));
}

TEST_F(owned_text_test, lives_in_a_task_that_is_kept) {
  std::vector<task<std::string>> kept;
  for (char c = 'a'; c != 'e'; ++c) kept.push_back(copy_of(std::string(100, c) + "!"));
  for (std::size_t i = 0; i != kept.size(); ++i)
    EXPECT_EQ(run(std::move(kept[i])), std::string(100, static_cast<char>('a' + i)) + "!");
}

TEST_F(owned_text_test, takes_memory_from_the_frame_pool) {
  const std::string text(2'000, 'a');
  { const owned_text warm{text}; }
  const testing::allocation_counter since;
  { const owned_text again{text}; }
  if (frame_pool::held_bytes() == 0) GTEST_SKIP() << "frames come from the heap in this build";
  EXPECT_EQ(since.allocations(), 0U);
}

}  // namespace
}  // namespace weft
