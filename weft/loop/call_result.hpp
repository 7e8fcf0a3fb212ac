// What a function gives when it is called somewhere else, where the call itself may fail, too.
//
//   static_assert(std::same_as<detail::result_of<decltype([] { return 1; })>, result<int>>);
#pragma once

#include <type_traits>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>

namespace weft::detail {

template <class T>
struct unwrapped_task {
  using type = T;
  static constexpr bool is_task = false;
};
template <class T>
struct unwrapped_task<task<T>> {
  using type = T;
  static constexpr bool is_task = true;
};

template <class T>
struct as_result {
  using type = result<T>;
};
template <class T>
struct as_result<result<T>> {
  using type = result<T>;
};

template <class F, class... Arguments>
concept gives_task = unwrapped_task<std::invoke_result_t<F&, Arguments...>>::is_task;
/// What a call of F gives when it may also fail: result<T> for T, task<T>, result<T> and
/// task<result<T>>.
template <class F, class... Arguments>
using result_of =
    typename as_result<typename unwrapped_task<std::invoke_result_t<F&, Arguments...>>::type>::type;

}  // namespace weft::detail
