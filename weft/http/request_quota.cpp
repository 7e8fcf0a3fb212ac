#include <weft/http/request_quota.hpp>

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::http {
namespace {

std::array<std::uint64_t, 2> draw_quota_secret() {
  std::array<std::uint64_t, 2> drawn{};
  if (::getrandom(drawn.data(), sizeof drawn, 0) != sizeof drawn)
    throw std::system_error{errno, std::generic_category(), "a secret for request_quota"};
  return drawn;
}

std::optional<rate_limiter> make_limiter(const char* whose, const rate_limit& limit) {
  if (limit.requests == 0) return std::nullopt;
  const duration each = limit.per / limit.requests;
  const bool is_kept = each > duration::zero() && limit.burst > 0 && limit.keys > 0 &&
                       each <= duration::max() / limit.burst;
  if (!is_kept)
    throw std::invalid_argument{weft::format(
        "request_quota.{}: {} requests in {} ns, {} at once, of {} keys, is no limit to keep: a "
        "request takes at least a nanosecond, and burst and keys are at least 1",
        whose, limit.requests, limit.per.count(), limit.burst, limit.keys)};
  return rate_limiter{limit, draw_quota_secret()};
}

void refuse(exchange& e, status code, std::string_view why, const rate_verdict& verdict) {
  e.reply_problem(code, why, weft::format("Retry-After: {}\r\n", retry_after_seconds(verdict)));
}

}  // namespace

request_quota::request_quota(request_quota_options options, server& http, event_loop& loop)
    : loop_{loop},
      client_{make_limiter("client", options.client)},
      all_{make_limiter("all", options.all)} {
  http.wrap_all([this](exchange& e, handler& next) { admit(e, next); });
}

void request_quota::admit(exchange& e, handler& next) {
  if (client_) {
    if (const auto from = e.client()) {
      const rate_verdict verdict = client_->admit(rate_key(*from), loop_.now());
      if (!verdict.admitted)
        return refuse(e, status::too_many_requests,
                      "this client asks more often than this server answers one", verdict);
    }
  }
  if (all_) {
    const rate_verdict verdict = all_->admit({}, loop_.now());
    if (!verdict.admitted)
      return refuse(e, status::service_unavailable,
                    "this server is asked more often than it answers", verdict);
  }
  next(e);
}

}  // namespace weft::http
