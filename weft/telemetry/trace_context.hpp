// Which of a user's requests a piece of work belongs to, across services (W3C Trace Context, level
// 1).
//
// Problem: what a service does for one request is spread over many services' logs. Contract: plain
// data, which travels in two header fields, `traceparent` and `tracestate`, and in the environment
// of tasks (weft/coro/environment.hpp). What is malformed is not believed, as the specification
// says: read() is then false and changes nothing. Allocates where tracestate is longer than before
// alone.
//
//   telemetry::trace_context trace;
//   if (trace.read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ""))
//     trace.begin_span(dice);  // a child of whoever has sent that
//   const auto field = trace.parent();
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/random.hpp>

namespace weft::telemetry {

struct trace_context {
  static constexpr std::size_t parent_bytes = 55;  // of a traceparent field
  static constexpr std::size_t most_state_bytes = 512;

  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> span_id{};  // whose children are whatever is asked for now
  std::uint8_t flags = 0;
  std::string state;  // tracestate, as it came

  [[nodiscard]] bool is_sampled() const noexcept { return (flags & 1) != 0; }
  /// False: `parent` is malformed (section 3.2). A state that no field may hold, or that is too
  /// long, is dropped.
  [[nodiscard]] bool read(std::string_view parent, std::string_view state_field);
  /// A new trace, which nobody samples.
  void begin_trace(random& dice);
  void begin_span(random& dice) noexcept;
  /// The value of a traceparent field, in version 00.
  [[nodiscard]] std::array<char, parent_bytes> parent() const noexcept;
  /// 32 hexadecimal digits, for logs.
  void append_trace_id(std::string& out) const;
};

}  // namespace weft::telemetry
