#include <weft/http/request_quota.hpp>

#include <weft/base/format.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::http {
namespace {

void refuse(exchange& e, status code, std::string_view why, const rate_verdict& verdict) {
  e.reply_problem(code, why, weft::format("Retry-After: {}\r\n", retry_after_seconds(verdict)));
}

}  // namespace

request_quota::request_quota(request_quota_options options, server& http, event_loop& loop)
    : loop_{loop},
      client_{make_rate_limiter("request_quota.client", options.client)},
      all_{make_rate_limiter("request_quota.all", options.all)} {
  http.wrap_all([this](exchange& e, handler& next) { admit(e, next); });
}

void request_quota::admit(exchange& e, handler& next) {
  if (client_) {
    const auto from = e.client();
    if (from || !e.is_from_unix_socket()) {
      const std::string_view key = from ? rate_key(*from) : std::string_view{"hidden"};
      const rate_verdict verdict = client_->admit(key, loop_.now());
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
