#include <weft/http/request_deadlines.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>

#include <weft/base/format.hpp>

namespace weft::http {

void request_deadlines::operator()(exchange& e, handler& next) const {
  constexpr std::uint64_t day_ms = 86'400'000;
  const auto said = e.request().header(field_);
  if (!said) return next(e);
  std::uint64_t left_ms = 0;
  const char* const end = said->data() + said->size();
  const auto read = std::from_chars(said->data(), end, left_ms);
  if (read.ec == std::errc::invalid_argument || read.ptr != end)
    return e.reply_problem(status::bad_request,
                           weft::format("{} is no number of milliseconds", field_));
  if (left_ms == 0 && read.ec == std::errc{})
    return e.reply_problem(status::gateway_timeout, "the time that the client gave is over");
  if (read.ec == std::errc{} && left_ms <= day_ms) e.end_within(std::chrono::milliseconds{left_ms});
  next(e);
}

}  // namespace weft::http
