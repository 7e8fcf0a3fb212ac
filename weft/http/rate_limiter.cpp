#include <weft/http/rate_limiter.hpp>

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/http/siphash.hpp>

namespace weft::http {
namespace {

std::array<std::uint64_t, 2> draw_limiter_secret() {
  std::array<std::uint64_t, 2> drawn{};
  if (::getrandom(drawn.data(), sizeof drawn, 0) != sizeof drawn)
    throw std::system_error{errno, std::generic_category(), "a secret for a rate_limiter"};
  return drawn;
}

}  // namespace

std::uint64_t retry_after_seconds(const rate_verdict& verdict) noexcept {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(verdict.retry_after).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 1));
}

std::string_view rate_key(const net::ip_address& client) noexcept {
  const std::string_view bytes{reinterpret_cast<const char*>(client.bytes().data()),
                               client.bytes().size()};
  return client.is_ipv4() ? bytes.substr(12) : bytes.substr(0, 8);
}

rate_limiter::rate_limiter(const rate_limit& limit, std::array<std::uint64_t, 2> secret)
    : secret_{secret}, interval_{limit.per / std::max(limit.requests, 1u)} {
  WEFT_ASSERT(limit.requests > 0 && limit.burst > 0 && limit.keys > 0,
              "a limit admits at least one request of one key");
  WEFT_ASSERT(interval_ > duration::zero() && interval_ <= duration::max() / limit.burst,
              "a request takes at least a nanosecond, and a burst no more than there is time");
  depth_ = interval_ * limit.burst;
  table_.resize(std::max<std::size_t>(std::bit_ceil(std::size_t{limit.keys}), ways));
  row_mask_ = table_.size() / ways - 1;
}

rate_limiter::bucket& rate_limiter::find(std::uint64_t key) noexcept {
  const auto row = table_.begin() + static_cast<std::ptrdiff_t>((key & row_mask_) * ways);
  const auto end = row + ways;
  const auto own = std::find_if(row, end, [key](const bucket& each) { return each.key == key; });
  if (own != end) return *own;
  // Free ones are the fullest of all.
  bucket& taken = *std::ranges::min_element(row, end, {}, &bucket::full_at);
  taken = {.key = key};
  return taken;
}

rate_verdict rate_limiter::admit(std::string_view key, time_point now) noexcept {
  bucket& own = find(std::max<std::uint64_t>(siphash(key, secret_), 1));
  const time_point full_at = std::max(own.full_at, now);
  const duration room = depth_ - (full_at - now);
  if (room < interval_) return {.admitted = false, .retry_after = interval_ - room, .remaining = 0};
  own.full_at = full_at + interval_;
  const auto left = static_cast<std::uint32_t>(room / interval_ - 1);
  return {.admitted = true, .retry_after = duration::zero(), .remaining = left};
}

std::optional<rate_limiter> make_rate_limiter(std::string_view whose, const rate_limit& limit) {
  if (limit.requests == 0) return std::nullopt;
  const duration each = limit.per / limit.requests;
  const bool is_kept = each > duration::zero() && limit.burst > 0 && limit.keys > 0 &&
                       each <= duration::max() / limit.burst;
  if (!is_kept)
    throw std::invalid_argument{weft::format(
        "{}: {} requests in {} ns, {} at once, of {} keys, is no limit to keep: a request takes at "
        "least a nanosecond, and burst and keys are at least 1",
        whose, limit.requests, limit.per.count(), limit.burst, limit.keys)};
  return rate_limiter{limit, draw_limiter_secret()};
}

}  // namespace weft::http
