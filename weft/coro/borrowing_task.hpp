// A task that borrows: it reads views, spans or const references of its caller until it ends.
//
// Problem: a task is lazy, and most arguments are temporaries. If a task with a string_view
// parameter is kept, in a vector say, it reads the text after it is gone. Contract: a task<T> owns
// all that it keeps; a function whose task borrows returns a borrowing_task<T>. It neither moves
// nor copies and is awaited as an rvalue, so it ends within the expression that makes it, before
// the temporaries of that expression do. with_timeout(), with_deadline(), shielded(), when_all()
// and race() accept it, and borrow in turn. It converts to no task<T>: neither a scope nor a
// container keeps it. It costs what a task<T> costs, and a coroutine may return it.
//
//   borrowing_task<result<void>> write(std::string_view text);
//   auto sent = co_await with_timeout(1s, out.write(line + "\n"));
#pragma once

#include <source_location>
#include <utility>

#include <weft/coro/environment.hpp>
#include <weft/coro/task.hpp>

namespace weft {

template <class T = void>
class borrowing_task;

namespace detail {

/// Found by handles as the promise of a task<T>, which it begins with.
template <class T>
class borrowing_promise final : public promise<T> {
 public:
  borrowing_task<T> get_return_object(
      std::source_location begins_at = std::source_location::current()) noexcept {
    return promise<T>::get_return_object(begins_at);
  }
};

/// As a task, for functions that return a borrowing_task themselves.
template <class T>
task<T> unwrap(borrowing_task<T>&& work) noexcept {
  return std::move(work.work_);
}
template <class T>
task<T> unwrap(task<T>&& work) noexcept {
  return std::move(work);
}

template <class Work>
inline constexpr bool is_any_task = false;
template <class T>
inline constexpr bool is_any_task<task<T>> = true;
template <class T>
inline constexpr bool is_any_task<borrowing_task<T>> = true;
template <class Work>
inline constexpr bool is_borrowing = false;
template <class T>
inline constexpr bool is_borrowing<borrowing_task<T>> = true;

/// Tasks of both kinds, of which some borrow.
template <class... Work>
concept tasks_that_borrow = (is_any_task<Work> && ...) && (is_borrowing<Work> || ...);

/// What co_await gives of a task that wraps others.
template <class Work>
using value_of = typename Work::value_type;

}  // namespace detail

template <class T>
class [[nodiscard("a task does nothing until it is awaited")]] borrowing_task {
 public:
  using promise_type = detail::borrowing_promise<T>;
  using value_type = T;

  borrowing_task(task<T> work) noexcept : work_{std::move(work)} {}
  borrowing_task(const borrowing_task&) = delete;
  borrowing_task& operator=(const borrowing_task&) = delete;
  ~borrowing_task() = default;

  auto operator co_await() && noexcept { return std::move(work_).operator co_await(); }
  /// As of a task<T>.
  [[nodiscard]] auto in(const environment& env WEFT_LIFETIME_BOUND) && noexcept {
    return std::move(work_).in(env);
  }

  /// Borrowed arguments do not live as long as a task that is kept.
  template <class U>
  operator task<U>() const {
    static_assert(!detail::is_any_task<task<U>>,
                  "this task borrows its arguments: co_await it in the expression that makes it, "
                  "or keep a coroutine that owns the arguments and awaits it");
  }

 private:
  template <class U>
  friend task<U> detail::unwrap(borrowing_task<U>&& work) noexcept;

  task<T> work_;
};

}  // namespace weft
