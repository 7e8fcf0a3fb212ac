// What a request says of whom it is sent for: how long the answer is waited for, and the trace that
// it belongs to.
//
// Contract: internal to http. Takes both from the environment of the task that asks; a view of
// that, and of the room within. Allocates nothing. request_deadlines.hpp and trace_requests.hpp
// read it at the other end.
//
//   const call_fields fields{co_await this_task::environment(), loop.now(), options.timeout_field};
//   for (std::string_view part : fields.parts()) send(part);
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <weft/base/time.hpp>
#include <weft/coro/environment.hpp>
#include <weft/telemetry/trace_context.hpp>

namespace weft::http {

class call_fields {
 public:
  static constexpr std::size_t most_parts = 9;

  /// `timeout_field`: its name; empty: how long is not said.
  call_fields(const environment& caller, time_point now, std::string_view timeout_field) noexcept;
  call_fields(const call_fields&) = delete;
  call_fields& operator=(const call_fields&) = delete;

  /// Of header lines; each is a piece of one, or empty.
  [[nodiscard]] std::span<const std::string_view> parts() const noexcept { return parts_; }

 private:
  void say_deadline(deadline until, time_point now, std::string_view name) noexcept;
  void say_trace(const telemetry::trace_context& trace) noexcept;

  std::array<std::string_view, most_parts> parts_{};
  std::array<char, 20> left_ms_;
  std::array<char, telemetry::trace_context::parent_bytes> parent_;
};

}  // namespace weft::http
