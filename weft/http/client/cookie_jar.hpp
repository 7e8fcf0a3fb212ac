// The cookies of a client.
//
// Problem: many services keep sessions in cookies, and a cookie that is sent to the wrong host
// gives the session away. Contract: RFC 6265bis. A cookie is sent to the host that set it, or to
// all hosts below its Domain, for paths below its Path, with Secure over https only, until it
// expires (400 days at most). Refused: a Domain that does not match the host or is a public suffix,
// Secure over http, a cookie over http that would shadow a secure one, and "__Host-" and
// "__Secure-" names without the attributes that they require. Public suffixes ("co.uk") come from
// libpsl (Debian: libpsl5), which is loaded with the first Domain; without it, names without a dot
// count as public suffixes. SameSite is stored and has no effect. Partitioned is ignored.
//
// At a limit the least recently used cookie is dropped. Held in memory only. One thread: that of
// the shard, whose clients may share it.
//
//   auto jar = std::make_shared<http::cookie_jar>(loop);
//   http.use_cookies(jar);
//   co_await http.post("https://shop.example/login", form, "application/x-www-form-urlencoded");
//   co_await http.get("https://shop.example/orders");                    // with the session
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/hash_map.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/http/cookies.hpp>
#include <weft/http/headers.hpp>

namespace weft {
class event_loop;
}

namespace weft::http {

struct url_parts;

struct cookie_jar_options {
  /// In total. The least recently used is dropped first.
  std::size_t cookies = 3000;
  /// Per domain. Those without Secure are dropped first.
  std::size_t cookies_per_domain = 50;
  /// Of names, values, domains and paths, in total.
  std::size_t bytes = 1024 * 1024;

  static constexpr auto bounds() {
    return weft::bounds(at_least<&cookie_jar_options::cookies>(1),
                        at_least<&cookie_jar_options::cookies_per_domain>(1),
                        at_least<&cookie_jar_options::bytes>(8 * 1024));
  }
};

/// A stored cookie.
struct kept_cookie {
  std::string name;
  std::string value;
  std::string domain;  // in lower case; with the zone, of an address that has one
  std::string path;
  /// Seconds since 1970-01-01 00:00:00 UTC; none: until the jar ends.
  std::optional<std::int64_t> expires{};
  http::same_site same_site = http::same_site::unset;
  bool host_only = true;  // is not sent to hosts below the domain
  bool secure = false;
  bool http_only = false;
};

class cookie_jar {
 public:
  /// Seconds since 1970-01-01 00:00:00 UTC.
  using wall_clock = unique_function<std::int64_t()>;

  /// By the clock of `loop`, which outlives it.
  explicit cookie_jar(const event_loop& loop, const cookie_jar_options& options = {});
  explicit cookie_jar(wall_clock now, const cookie_jar_options& options = {});
  cookie_jar(const cookie_jar&) = delete;
  cookie_jar& operator=(const cookie_jar&) = delete;
  ~cookie_jar();

  /// Stores the value of a Set-Cookie field in a response to a request for `url`. The error is the
  /// reason why the cookie is refused, in static storage.
  std::expected<void, std::string_view> set(std::string_view url, std::string_view set_cookie);
  /// The value of the Cookie field of a request for `url`; empty: there are no cookies for it.
  [[nodiscard]] std::string header_for(std::string_view url);

  /// All that have not expired, in no particular order.
  [[nodiscard]] std::vector<kept_cookie> all();
  /// Includes expired cookies that have not been removed yet.
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  /// Forgets all.
  void clear() noexcept;

  /// As set(), for each Set-Cookie field; refused cookies are ignored. For the client.
  void take(const url_parts& from, const header_list& headers);
  [[nodiscard]] std::string header_for(const url_parts& to);

  /// Whether libpsl could be loaded.
  [[nodiscard]] static bool knows_public_suffixes();

 private:
  struct entry : kept_cookie {
    std::uint64_t created = 0;  // in order of creation
    std::uint64_t used = 0;
    [[nodiscard]] std::size_t bytes() const noexcept {
      return name.size() + value.size() + domain.size() + path.size();
    }
  };
  using entries = std::list<entry>;
  using domains = hash_map<std::string, std::vector<entries::iterator>>;

  std::expected<void, std::string_view> store(const url_parts& from, std::string_view set_cookie);
  [[nodiscard]] bool shadows_secure(const entry& made) const;
  void insert(entry made);
  void make_room(const entry& made);
  void erase(entries::iterator which) noexcept;
  void erase_expired(const std::string& domain, std::int64_t now);

  wall_clock now_;
  cookie_jar_options options_;
  entries kept_;  // the last used first
  domains domains_;
  std::size_t bytes_ = 0;
  std::uint64_t count_ = 0;  // of cookies set and sent
};

}  // namespace weft::http
