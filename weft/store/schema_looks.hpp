// When the schema is looked at because a request does not agree with it.
//
// Problem: a table that was created a moment ago must be found, and a value that a column has been
// changed for must be accepted. But requests that are wrong must not make the engine look all the
// time. Contract: one object for each engine. after_miss() waits
// for a look that begins after the call. All waiting callers share it. There is one look at a time.
// The pause between two looks is ten times as long as the last look, at least 10 ms and at most
// 1 s. A look belongs to the engine: it continues if the caller that started it stops waiting.
// Errors are errc::cancelled and errc::timed_out of the wait itself, else the look's own.
//
//   schema_looks looks{loop, own, [this] { return refresh(); }, counts.looks};
//   if (const auto looked = co_await looks.after_miss(); !looked) co_return fail(looked.error());
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/telemetry/instruments.hpp>

namespace weft::store {

class schema_looks {
 public:
  static constexpr duration pause_min = std::chrono::milliseconds{10};
  static constexpr duration pause_max = std::chrono::seconds{1};

  using look = unique_function<task<result<void>>()>;

  schema_looks(event_loop& loop, lifetime& own, look how, telemetry::counter& counted) noexcept
      : loop_{loop}, own_{own}, look_{std::move(how)}, counted_{counted} {}
  schema_looks(const schema_looks&) = delete;
  schema_looks& operator=(const schema_looks&) = delete;
  ~schema_looks() = default;

  [[nodiscard]] task<result<void>> after_miss();

 private:
  [[nodiscard]] task<void> run();
  void settle(result<void> outcome) noexcept;

  event_loop& loop_;
  lifetime& own_;
  look look_;
  telemetry::counter& counted_;
  std::uint64_t begun_ = 0;
  std::uint64_t settled_ = 0;  // the last one that is over
  result<void> outcome_;       // of that one
  event over_;
  bool is_running_ = false;
  time_point next_{};  // not before
};

}  // namespace weft::store
