#include <weft/http/trace_requests.hpp>

#include <random>

#include <weft/telemetry/trace_context.hpp>

namespace weft::http {

std::uint64_t trace_requests::draw_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

void trace_requests::operator()(exchange& e, handler& next) {
  const header_list& headers = e.request().headers();
  telemetry::trace_context& trace = e.begin_trace();
  const std::size_t parent = headers.index_of("traceparent");
  // Two of them contradict each other.
  const bool is_alone =
      parent != headers.size() && headers.index_of("traceparent", parent + 1) == headers.size();
  if (is_alone && trace.read(headers[parent].value, headers.find("tracestate").value_or("")))
    trace.begin_span(dice_);
  else
    trace.begin_trace(dice_);
  next(e);
}

}  // namespace weft::http
