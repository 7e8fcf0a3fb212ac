// How often somebody may ask: so many requests in so much time, each key for itself.
//
// Problem: a table of clients grows with the number of attackers. Contract: admit() is a token
// bucket, kept as the one time at which it will be full again (the "generic cell rate algorithm",
// ITU-T I.371 annex A): `burst` requests at once, then `requests` in `per`. The table has room for
// `keys` keys, 16 bytes each, and never grows: where a key finds its row of 8 full, the one whose
// bucket is fullest makes room, which loses nothing once that is full. Keys are hashed with a
// secret of the limiter's own (SipHash-2-4), so that nobody can choose whom he shares a bucket
// with. O(1), nothing allocated after construction. One shard: limits of a whole program are
// divided by its shards.
//
//   http::rate_limiter per_client{{.requests = 100}, secret};
//   const auto verdict = per_client.admit(http::rate_key(address), loop.now());
//   if (!verdict.admitted) ...   // 429, Retry-After: retry_after_seconds(verdict)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {

struct rate_limit {
  std::uint32_t requests = 100;
  duration per = std::chrono::seconds{1};
  std::uint32_t burst = 100;
  std::uint32_t keys = 64 * 1024;  // rounded up to a power of two, at least 8
};

struct rate_verdict {
  bool admitted;
  duration retry_after;     // 0 where admitted
  std::uint32_t remaining;  // requests that would be admitted now
};

// Whole seconds for Retry-After (RFC 9110 section 10.2.3), rounded up; at least 1.
[[nodiscard]] std::uint64_t retry_after_seconds(const rate_verdict& verdict) noexcept;

// An IPv4 address; of IPv6 the first 64 bits, which is what one customer has. A view of `client`.
[[nodiscard]] std::string_view rate_key(const net::ip_address& client) noexcept;

class rate_limiter {
 public:
  // `requests`, `per`, `burst` and `keys` are not 0. `secret` comes from a random source.
  rate_limiter(const rate_limit& limit, std::array<std::uint64_t, 2> secret);

  // Times must not go back.
  [[nodiscard]] rate_verdict admit(std::string_view key, time_point now) noexcept;

 private:
  static constexpr std::size_t ways = 8;

  struct bucket {
    std::uint64_t key = 0;  // 0: nobody's
    time_point full_at = time_point::min();
  };

  [[nodiscard]] bucket& find(std::uint64_t key) noexcept;

  std::vector<bucket> table_;
  std::size_t row_mask_;
  std::array<std::uint64_t, 2> secret_;
  duration interval_;  // of one request
  duration depth_;     // of all of a burst
};

// With a secret of its own. Nothing where `limit.requests` is 0: as many as they like. Throws
// std::invalid_argument for a limit that no clock can keep; `whose` is what people know it by.
[[nodiscard]] std::optional<rate_limiter> make_rate_limiter(std::string_view whose,
                                                            const rate_limit& limit);

}  // namespace weft::http
