// Internal to the container: calling start() and stop(), whatever they give, and throw.
//
// Contract: a call that throws has failed with errc::unavailable, and the log says how. While
// start() runs, up to its first wait, the service's lifetime is the current one.
//
//   auto up = co_await detail::begin(service, env);
#pragma once

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/service_record.hpp>

namespace weft::detail {

/// start_now or stop_now.
[[nodiscard]] result<void> call_now(service_record& service, result<void> (*step)(void*)) noexcept;

/// start or stop.
[[nodiscard]] task<result<void>> guarded(service_record& service,
                                         task<result<void>> (*step)(void*));

/// Runs start() in `env`, which outlives it.
[[nodiscard]] task<result<void>> begin(service_record& service, const environment& env);

}  // namespace weft::detail
