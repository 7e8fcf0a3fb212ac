// Several tasks side by side, and what all of them give.
//
// Contract: the tasks inherit the caller's environment and start from the ready queue.
// when_all ends when all have ended, never earlier: the values stand in a tuple (std::monostate for
// a task<void>), or in a vector for a vector of tasks (nothing for a vector of task<void>). The
// first exception that leaves a task asks the others to stop, and is rethrown after they have
// ended; the others' are dropped. A stop request reaches the tasks, and they say what they make of
// it. A tuple's worth of tasks allocates coroutine frames only. One shard.
//
//   auto [user, orders] = co_await when_all(find_user(id), find_orders(id));
//   std::vector<reply> replies = co_await when_all(std::move(requests));
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/run_into.hpp>

namespace weft {

template <class... T>
task<std::tuple<detail::stored<T>...>> when_all(task<T>... work) {
  std::tuple<std::optional<detail::stored<T>>...> values;
  scope children{co_await this_task::environment()};
  std::apply(
      [&](auto&... into) {
        detail::spawn_all(children, detail::run_into(std::move(work), into)...);
      },
      values);
  co_await children.join();
  co_return std::apply(
      [](auto&... value) { return std::tuple<detail::stored<T>...>{std::move(*value)...}; },
      values);
}

template <class... Work>
  requires detail::tasks_that_borrow<Work...>
borrowing_task<std::tuple<detail::stored<detail::value_of<Work>>...>> when_all(
    Work&&... work WEFT_LIFETIME_BOUND) {
  return when_all(detail::unwrap(std::forward<Work>(work))...);
}

template <class T>
task<std::conditional_t<std::is_void_v<T>, void, std::vector<detail::stored<T>>>> when_all(
    std::vector<task<T>> work) {
  std::vector<std::optional<detail::stored<T>>> values(work.size());
  scope children{co_await this_task::environment()};
  std::vector<task<void>> kept;
  kept.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i)
    kept.push_back(detail::run_into(std::move(work[i]), values[i]));
  detail::spawn_all(children, std::move(kept));
  co_await children.join();
  if constexpr (!std::is_void_v<T>) {
    std::vector<T> all;
    all.reserve(values.size());
    for (std::optional<T>& value : values) all.push_back(std::move(*value));
    co_return all;
  }
}

}  // namespace weft
