// One T on each shard, and calls to all of them.
//
//   sharded<counters> all;
//   co_await all.start([](unsigned shard) { return counters{shard}; });
//   all.local().add(1);
//   result<int> there = co_await all.on(2, [](counters& c) { return c.total(); });
//   result<std::vector<int>> totals = co_await all.map([](counters& c) { return c.total(); });
//   co_await all.stop();
//
// Contract: start() and stop() make and destroy each T on its own shard; both are called once, by
// one shard of the mesh, and stop() before the sharded ends. In between each shard uses local(),
// and any shard calls any other, as on() does. broadcast() and map() copy their function to all
// shards at once and give what comes back in the order of the shards: the first failure, if there
// is one, when all have answered. A function may be a coroutine. A T whose shard has ended is
// destroyed by stop(), where that runs.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/coro/run_into.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/call_result.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/on.hpp>

namespace weft {

namespace detail {

template <class Result>
struct collected {
  using type = result<std::vector<typename Result::value_type>>;
};
template <>
struct collected<result<void>> {
  using type = result<void>;
};

template <class F>
task<void> answer_of(unsigned shard, F f, std::optional<result_of<F>>& answer) {
  answer.emplace(co_await on(shard, std::move(f)));
}

template <class Result>
typename collected<Result>::type in_order(std::vector<std::optional<Result>>& answers) {
  for (const std::optional<Result>& each : answers)
    if (!*each) return fail(each->error());
  if constexpr (std::is_void_v<typename Result::value_type>) {
    return {};
  } else {
    std::vector<typename Result::value_type> values;
    values.reserve(answers.size());
    for (std::optional<Result>& each : answers) values.push_back(std::move(**each));
    return values;
  }
}

}  // namespace detail

/// Runs a copy of `f` on each shard of this loop's mesh, at once. What each gave, by shard; or the
/// first failure, when all have answered. An exception asks the others to stop; one from copying
/// `f`, or from a lack of memory, comes before any call has left.
template <class F>
[[nodiscard]] task<typename detail::collected<detail::result_of<F>>::type> on_all(F f) {
  const mesh_port* const port = event_loop::current().port();
  std::vector<std::optional<detail::result_of<F>>> answers(port != nullptr ? port->shards().size()
                                                                           : 1);
  std::vector<task<void>> calls;
  calls.reserve(answers.size());
  for (unsigned shard = 0; shard < answers.size(); ++shard)
    calls.push_back(detail::answer_of(shard, f, answers[shard]));
  scope under_way{co_await this_task::environment()};
  detail::spawn_all(under_way, std::move(calls));
  co_await under_way.join();
  co_return detail::in_order(answers);
}

template <class T>
class sharded {
 public:
  sharded() noexcept = default;
  sharded(const sharded&) = delete;
  sharded& operator=(const sharded&) = delete;
  ~sharded() { WEFT_ASSERT(slots_ == nullptr, "a sharded ends after co_await stop()"); }

  /// `make(shard)` gives the T of that shard, on that shard. If one fails or throws, those made are
  /// destroyed.
  template <class F>
    requires std::is_constructible_v<T, std::invoke_result_t<F&, unsigned>>
  [[nodiscard]] task<result<void>> start(F make) {
    WEFT_ASSERT(slots_ == nullptr, "a sharded starts once");
    const mesh_port* const port = event_loop::current().port();
    slots_ = std::make_unique<slot[]>(port != nullptr ? port->shards().size() : 1);
    result<void> made;
    std::exception_ptr failure;
    try {
      made = as_nothing(co_await on_all(
          [this, make]() mutable { make_here(make(event_loop::current().shard())); }));
    } catch (...) {
      failure = std::current_exception();
    }
    if (made && !failure) co_return made;
    co_await stop();  // before the exception goes on, and not while it is caught
    if (failure) std::rethrow_exception(failure);
    co_return made;
  }

  [[nodiscard]] task<void> stop() {
    if (slots_ == nullptr) co_return;
    // Nobody may ask that it be left undone.
    const environment own{.runs_on = &event_loop::current()};
    static_cast<void>(co_await on_all([this] { slots_[here()].value.reset(); }).in(own));
    slots_.reset();
  }

  /// This shard's.
  [[nodiscard]] T& local() noexcept {
    WEFT_DEBUG_ASSERT(slots_ != nullptr && slots_[here()].value, "a sharded is used once started");
    return *slots_[here()].value;
  }

  template <class F>
  [[nodiscard]] task<detail::result_of<F, T&>> on(unsigned shard, F f) {
    return weft::on(shard, [this, f = std::move(f)]() mutable { return f(local()); });
  }

  /// Calls `f` with each T, on its shard.
  template <class F>
  [[nodiscard]] task<result<void>> broadcast(F f) {
    co_return as_nothing(co_await on_all([this, f]() mutable { return f(local()); }));
  }

  /// As broadcast(); what each gave, by shard.
  template <class F>
  [[nodiscard]] auto map(F f) {
    return on_all([this, f]() mutable { return f(local()); });
  }

 private:
  struct alignas(64) slot {
    std::optional<T> value;
  };

  static unsigned here() noexcept { return event_loop::current().shard(); }

  template <class U>
  void make_here(U&& value) {
    slots_[here()].value.emplace(std::forward<U>(value));
  }

  template <class U>
  static result<void> as_nothing(const U& outcome) noexcept {
    if (!outcome) return fail(outcome.error());
    return {};
  }

  std::unique_ptr<slot[]> slots_;  // by shard
};

}  // namespace weft
