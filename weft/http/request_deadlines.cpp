#include <weft/http/request_deadlines.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>

#include <weft/base/format.hpp>

namespace weft::http {

void request_deadlines::operator()(exchange& e, handler& next) const {
  constexpr std::uint64_t day_ms = 86'400'000;
  const header_list& fields = e.request().headers();
  if (!fields.find(field_)) return next(e);
  const auto said = fields.only(field_);
  if (!said) return e.reply_problem(status::bad_request, weft::format("{} is given twice", field_));
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
