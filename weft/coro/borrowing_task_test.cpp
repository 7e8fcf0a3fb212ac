#include <weft/coro/borrowing_task.hpp>

#include <concepts>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/race.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/coro/task_fixture_test.hpp>
#include <weft/coro/when_all.hpp>
#include <weft/coro/with_deadline.hpp>

namespace weft {
namespace {

using borrowing_task_test = task_fixture;

borrowing_task<std::string> copy_of(borrowed_text text WEFT_LIFETIME_BOUND) {
  co_return std::string{text.view()};
}
borrowing_task<void> append_to(std::string& all, borrowed_text text WEFT_LIFETIME_BOUND) {
  all.append(text.view());
  co_return;
}
/// No coroutine itself.
borrowing_task<std::string> passed_on(borrowed_text text WEFT_LIFETIME_BOUND) {
  return copy_of(text);
}
borrowing_task<int> fails(borrowed_text text WEFT_LIFETIME_BOUND) {
  throw std::runtime_error{std::string{text.view()}};
  co_return 0;
}
task<std::string> owned(std::string text) { co_return text; }

/// Long enough to lie on the heap.
std::string long_text(char of) { return std::string(100, of); }

TEST_F(borrowing_task_test, reads_temporaries_of_the_expression_that_awaits_it) {
  run([]() -> task<void> {
    std::string all;
    co_await append_to(all, long_text('a') + "b");
    EXPECT_EQ(all, long_text('a') + "b");
    EXPECT_EQ(co_await copy_of(long_text('c')), long_text('c'));
    EXPECT_EQ(co_await passed_on(long_text('d')), long_text('d'));
  }());
}

TEST_F(borrowing_task_test, borrows_through_what_wraps_tasks) {
  run([]() -> task<void> {
    const environment env = co_await this_task::environment();
    EXPECT_EQ(co_await copy_of(long_text('a')).in(env), long_text('a'));
    EXPECT_EQ(co_await with_deadline(deadline::never(), copy_of(long_text('b'))), long_text('b'));
    EXPECT_EQ(co_await with_timeout(duration::max(), copy_of(long_text('c'))), long_text('c'));
    EXPECT_EQ(co_await shielded(copy_of(long_text('d'))), long_text('d'));
    EXPECT_EQ(co_await shielded(copy_of(long_text('e')), deadline::never()), long_text('e'));
  }());
}

TEST_F(borrowing_task_test, runs_beside_tasks_of_both_kinds) {
  run([]() -> task<void> {
    std::string all;
    const auto [first, second, third] = co_await when_all(
        copy_of(long_text('a')), owned(long_text('b')), append_to(all, long_text('c')));
    EXPECT_EQ(first, long_text('a'));
    EXPECT_EQ(second, long_text('b'));
    EXPECT_EQ(all, long_text('c'));
    const auto ended = co_await race(owned(long_text('d')), copy_of(long_text('e')));
    EXPECT_EQ(ended.winner, 0U);
    EXPECT_EQ(std::get<1>(ended.values), long_text('e'));
  }());
}

TEST_F(borrowing_task_test, rethrows_what_leaves_it) {
  run([]() -> task<void> { EXPECT_THROW(co_await fails("no"), std::runtime_error); }());
}

// What tests/compile_fail cannot show: that the types say so.
static_assert(!std::move_constructible<borrowing_task<int>>);
static_assert(!std::copy_constructible<borrowing_task<int>>);
static_assert(!std::is_move_assignable_v<borrowing_task<int>>);
static_assert(sizeof(borrowing_task<int>) == sizeof(task<int>));
// A handle finds either promise as that of a task.
static_assert(sizeof(borrowing_task<int>::promise_type) == sizeof(task<int>::promise_type));
static_assert(alignof(borrowing_task<int>::promise_type) == alignof(task<int>::promise_type));

}  // namespace
}  // namespace weft
