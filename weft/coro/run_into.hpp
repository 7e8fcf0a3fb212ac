// Internal to race, when_all and on_all: tasks whose values are kept, side by side in a scope.
//
// Contract: spawn_all() is given all tasks before the first one starts, so that memory that runs
// out on the way leaves none behind.
//
//   std::optional<detail::stored<T>> value;
//   children.spawn(detail::run_into(std::move(work), value));
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/coro/task.hpp>

namespace weft::detail {

/// What is kept of a task<T>.
template <class T>
using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
task<void> run_into(task<T> work, std::optional<stored<T>>& into) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(work);
    into.emplace();
  } else {
    into.emplace(co_await std::move(work));
  }
}

template <std::same_as<task<void>>... Tasks>
void spawn_all(scope& children, Tasks... tasks) noexcept {
  (children.spawn(std::move(tasks)), ...);
}

inline void spawn_all(scope& children, std::vector<task<void>> tasks) noexcept {
  for (task<void>& one : tasks) children.spawn(std::move(one));
}

}  // namespace weft::detail
