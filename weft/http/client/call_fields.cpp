#include <weft/http/client/call_fields.hpp>

#include <charconv>
#include <chrono>

namespace weft::http {

call_fields::call_fields(const environment& caller, time_point now,
                         std::string_view timeout_field) noexcept {
  if (!timeout_field.empty() && !caller.until.is_never())
    say_deadline(caller.until, now, timeout_field);
  if (caller.trace != nullptr) say_trace(*caller.trace);
}

void call_fields::say_deadline(deadline until, time_point now, std::string_view name) noexcept {
  // Less than a millisecond is not nothing: with nothing left it would not have been sent.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until.when() - now).count();
  char* const end =
      std::to_chars(left_ms_.data(), left_ms_.data() + left_ms_.size(), left > 0 ? left : 1).ptr;
  parts_[0] = name;
  parts_[1] = ": ";
  parts_[2] = {left_ms_.data(), end};
  parts_[3] = "\r\n";
}

void call_fields::say_trace(const telemetry::trace_context& trace) noexcept {
  parent_ = trace.parent();
  parts_[4] = "traceparent: ";
  parts_[5] = {parent_.data(), parent_.size()};
  parts_[6] = "\r\n";
  if (trace.state.empty()) return;
  parts_[6] = "\r\ntracestate: ";
  parts_[7] = trace.state;
  parts_[8] = "\r\n";
}

}  // namespace weft::http
