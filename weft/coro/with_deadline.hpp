// A narrower deadline for a part of the work.
//
// Contract: `work`, and all it awaits and spawns, lives under the earlier of `until` and the
// caller's deadline; the stop request and the scheduler are the caller's. Nothing here waits or
// arms a timer: the waits inside answer errc::timed_out, and what `work` makes of that is what it
// gives. with_timeout() counts from the moment it is awaited.
//
//   auto reply = co_await with_timeout(std::chrono::seconds{2}, fetch(url));
#pragma once

#include <algorithm>
#include <utility>

#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/scheduler.hpp>
#include <weft/coro/task.hpp>

namespace weft {

template <class T>
task<T> with_deadline(deadline until, task<T> work) {
  environment narrowed = co_await this_task::environment();
  narrowed.until = std::min(narrowed.until, until);
  co_return co_await std::move(work).in(narrowed);
}

template <class T>
task<T> with_timeout(duration length, task<T> work) {
  environment narrowed = co_await this_task::environment();
  const time_point now = narrowed.runs_on->now();
  if (length < time_point::max() - now)
    narrowed.until = std::min(narrowed.until, deadline::at(now + length));
  co_return co_await std::move(work).in(narrowed);
}

template <class T>
borrowing_task<T> with_deadline(deadline until, borrowing_task<T>&& work WEFT_LIFETIME_BOUND) {
  return with_deadline(until, detail::unwrap(std::move(work)));
}

template <class T>
borrowing_task<T> with_timeout(duration length, borrowing_task<T>&& work WEFT_LIFETIME_BOUND) {
  return with_timeout(length, detail::unwrap(std::move(work)));
}

}  // namespace weft
