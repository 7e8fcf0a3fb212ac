// Several tasks side by side, of which the first to end wins.
//
// Contract: the tasks inherit the caller's environment and start from the ready queue.
// When the first has ended, with a value or an exception, the others are asked to stop, and race
// ends when all have ended, never earlier. `winner` says which it was. `values` holds what every
// task gave, the losers' too, for a loser may have succeeded before it heard of the stop: an item
// that it took from a channel is there and not lost. An exception of the winner is rethrown; a
// loser's leaves its value empty. task<void> counts as std::monostate. A tuple's worth of tasks
// allocates coroutine frames only. One shard.
//
//   auto ended = co_await race(next_job(jobs), stop_button.pressed());
//   if (ended.winner == 1) co_return;
//   run(**std::get<0>(ended.values));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/run_into.hpp>

namespace weft {

/// Of race(task<T>...).
template <class... T>
struct race_result {
  std::size_t winner;
  std::tuple<std::optional<detail::stored<T>>...> values;
};

/// Of race(std::vector<task<T>>).
template <class T>
struct race_results {
  std::size_t winner;
  std::vector<std::optional<detail::stored<T>>> values;
};

namespace detail {

/// Who has won, and the scope of all.
class race_track {
 public:
  explicit race_track(const environment& parent) noexcept : runners{parent} {}

  /// False: somebody else was earlier.
  bool finish(std::size_t who) noexcept {
    if (winner != nobody) return false;
    winner = who;
    runners.request_stop();
    return true;
  }

  static constexpr std::size_t nobody = SIZE_MAX;
  scope runners;
  std::size_t winner = nobody;
};

template <class T>
task<void> race_into(task<T> work, std::optional<stored<T>>& into, race_track& track,
                     std::size_t who) {
  try {
    co_await run_into(std::move(work), into);
  } catch (...) {
    if (track.finish(who)) throw;
  }
  track.finish(who);
}

}  // namespace detail

template <class... T>
  requires(sizeof...(T) > 0)
task<race_result<T...>> race(task<T>... work) {
  race_result<T...> ended{detail::race_track::nobody, {}};
  detail::race_track track{co_await this_task::environment()};
  [&]<std::size_t... Who>(std::index_sequence<Who...>) {
    detail::spawn_all(track.runners, detail::race_into(std::move(work), std::get<Who>(ended.values),
                                                       track, Who)...);
  }(std::index_sequence_for<T...>{});
  co_await track.runners.join();
  ended.winner = track.winner;
  co_return ended;
}

template <class... Work>
  requires detail::tasks_that_borrow<Work...>
borrowing_task<race_result<detail::value_of<Work>...>> race(Work&&... work WEFT_LIFETIME_BOUND) {
  return race(detail::unwrap(std::forward<Work>(work))...);
}

template <class T>
task<race_results<T>> race(std::vector<task<T>> work) {
  WEFT_ASSERT(!work.empty(), "somebody must run to win a race");
  race_results<T> ended{detail::race_track::nobody,
                        std::vector<std::optional<detail::stored<T>>>(work.size())};
  detail::race_track track{co_await this_task::environment()};
  std::vector<task<void>> runners;
  runners.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i)
    runners.push_back(detail::race_into(std::move(work[i]), ended.values[i], track, i));
  detail::spawn_all(track.runners, std::move(runners));
  co_await track.runners.join();
  ended.winner = track.winner;
  co_return ended;
}

}  // namespace weft
