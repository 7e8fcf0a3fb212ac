// Internal to the container: a call of start() or stop(), whatever they give, and throw.
//
// Contract: awaited once, gives how the call went; one that throws has failed with
// errc::unavailable, and the log says how. The call obeys the stop request and the deadline of
// `asking`, which outlives it, and works for the service. Up to its first wait the service's
// lifetime is the current one. What is no coroutine is called at once, without a suspension;
// nothing here allocates. If there is no memory for a coroutine's frame, the call fails, or is
// repeated in each turn of the loop until there is. A stop() must not be skipped: connections would
// refer to a destroyed service. The forced end of the process bounds the retries.
//
//   auto up = co_await service_call{service, service.kind->start, asking, no_memory::fails};
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>

#include <weft/base/result.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/coro/scheduler.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/service/service_record.hpp>

namespace weft::detail {

/// What a call does if there is no memory for the frame of its coroutine.
enum class no_memory : std::uint8_t { fails, waits };

class [[nodiscard]] service_call final : private runnable {
 public:
  service_call(service_record& service, const service_step& step, const environment& asking,
               no_memory without) noexcept
      : runnable{&run_leg},
        service_{service},
        step_{step},
        environment_{asking},
        without_{without} {
    environment_.owner = &service;
    environment_.called_by = &asking;
  }

  bool await_ready() noexcept;
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    caller_ = &waiting.promise();
    environment_.runs_on->schedule(*this, priority::normal);
  }
  [[nodiscard]] result<void> await_resume() noexcept;

 private:
  /// From the ready queue, where no lifetime is the current one.
  static void run_leg(runnable& self) noexcept;
  [[nodiscard]] std::coroutine_handle<> begin() noexcept;

  service_record& service_;
  const service_step& step_;
  environment environment_;
  promise_base* caller_ = nullptr;
  std::optional<task<result<void>>> work_;
  std::optional<task_awaiter<result<void>>> awaited_;
  std::optional<lifetime::making>* making_ = nullptr;  // while the first leg runs
  result<void> outcome_;
  no_memory without_;
  bool lacks_memory_ = false;
};

}  // namespace weft::detail
