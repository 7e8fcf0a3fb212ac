// Who may touch which database: the keys that clients send, and what they may do.
//
// Contract: a service, one a shard, which reads the file of keys when it starts and again on
// SIGHUP; a file that is wrong is told in the log, and the keys of before are kept. Without a file
// everybody may do all, which is for loopback alone (check_exposure()), and then no page of another
// site may have a browser ask for it, by a name of its own for this machine neither: what is not
// known of who asks is never taken for good. Who sends no key, a wrong one, two, or one that does
// not allow what it asks for is told with 401, and whose key is not known before its body is read
// (may_send_body()); who asks more often than `rate` allows each key, on each shard, with 429. All
// keys are in memory, found by their prefix: a client that makes keys up has nothing kept of them.
// Warm requests allocate nothing.
//
//   const auto permit = access.identify(e);          // before the request is looked at
//   if (permit) fine = permit->allows(right::read, "shop");
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/http/rate_limiter.hpp>
#include <weft/telemetry/instruments.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_key.hpp>
#include <apps/weftd/check_request.hpp>

namespace weft {
class event_loop;
class logger;
}  // namespace weft

namespace weft::http {
class exchange;
class header_list;
}  // namespace weft::http

namespace weft::net {
class address_book;
}

namespace weft::telemetry {
class meter;
}

namespace weftd {

/// Of requests: the key of who asks.
inline constexpr const char* key_header = "X-API-KEY";

struct access_options {
  /// The file of keys; empty: there are none, and everybody may do all.
  std::string keys{};
  /// Serve other machines though there are no keys.
  bool insecure_allow_all = false;
  /// Of each key, on each shard. 0 requests: as many as they like.
  weft::http::rate_limit rate{.requests = 0};
};

/// What one request may do. Good until the next wait.
class permit {
 public:
  /// What `of` allows, which outlives this.
  explicit permit(const api_key& of) noexcept : key_{&of} {}
  [[nodiscard]] static permit for_all() noexcept { return permit{}; }

  [[nodiscard]] bool is_for_all() const noexcept { return key_ == nullptr; }
  /// Not of a permit for all. SIGHUP ends it: copy it before a wait.
  [[nodiscard]] const api_key& key() const noexcept { return *key_; }
  [[nodiscard]] checked allows(right wanted, std::string_view database) const;

 private:
  permit() noexcept = default;

  const api_key* key_ = nullptr;  // none: all is allowed
};

class access {
 public:
  using options = access_options;

  access(access_options options, weft::event_loop& loop, weft::logger& log,
         weft::telemetry::meter& meter);

  [[nodiscard]] bool uses_keys() const noexcept { return !options_.keys.empty(); }
  /// Whether the body of such a request is to be read: where there are keys, if it has one.
  [[nodiscard]] bool may_send_body(const weft::http::header_list& fields);
  /// Counts against the rate of its key.
  [[nodiscard]] std::expected<permit, api_fault> identify(const weft::http::exchange& e);

  weft::result<void> start();
  weft::result<void> reload();

 private:
  /// Else what is wrong with the file.
  [[nodiscard]] std::expected<void, std::string> read();
  /// The key that a request with these fields has; else what is wrong with what it has.
  [[nodiscard]] std::expected<const api_key*, api_fault> find_key(
      const weft::http::header_list& fields);
  /// The key that `sent` is the text of; nullptr: none.
  [[nodiscard]] api_key* find(std::string_view sent);

  access_options options_;
  weft::event_loop& loop_;
  weft::logger& log_;
  std::vector<api_key> keys_;  // in the order of their prefixes
  std::optional<weft::http::rate_limiter> rate_;
  weft::telemetry::counter no_key_;
  weft::telemetry::counter wrong_key_;
  weft::telemetry::counter too_often_;
  weft::telemetry::counter foreign_page_;
};

/// Whether these options serve other machines without keys, or name a file of keys that is wrong; a
/// line each.
[[nodiscard]] std::vector<std::string> check_exposure(const access_options& given,
                                                      const std::string& listen,
                                                      weft::net::address_book& addresses);

}  // namespace weftd
