// Work that goes on though its caller was asked to stop: to give back, to flush, to say goodbye.
//
// Contract: `work`, and all it awaits, sees no stop request of the caller. It keeps the caller's
// deadline, or has `until` instead, which may be later; deadline::never() is none. The caller waits
// for it all the same, so give it a deadline: nothing else will end it.
//
//   auto served = co_await serve(stream);  // asked to stop: so is every wait after it
//   co_await shielded(with_timeout(std::chrono::seconds{1}, say_goodbye(stream)),
//                     deadline::never());
#pragma once

#include <utility>

#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/task.hpp>

namespace weft {

template <class T>
task<T> shielded(task<T> work) {
  environment own = co_await this_task::environment();
  own.stop = {};
  co_return co_await std::move(work).in(own);
}

template <class T>
task<T> shielded(task<T> work, deadline until) {
  environment own = co_await this_task::environment();
  own.stop = {};
  own.until = until;
  co_return co_await std::move(work).in(own);
}

template <class T>
borrowing_task<T> shielded(borrowing_task<T>&& work WEFT_LIFETIME_BOUND) {
  return shielded(detail::unwrap(std::move(work)));
}

template <class T>
borrowing_task<T> shielded(borrowing_task<T>&& work WEFT_LIFETIME_BOUND, deadline until) {
  return shielded(detail::unwrap(std::move(work)), until);
}

}  // namespace weft
