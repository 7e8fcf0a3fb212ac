#include <weft/http/client/cookie_jar.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <weft/http/client/public_suffix.hpp>
#include <weft/http/client/set_cookie_text.hpp>
#include <weft/http/client/url.hpp>
#include <weft/http/headers.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  for (char& each : lower)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return lower;
}

/// The key of its cookies.
std::string host_key(const url_parts& of) {
  std::string key = in_lower_case(of.host);
  if (!of.zone.empty()) key.append("%").append(of.zone);
  return key;
}

bool is_address(std::string_view host) noexcept {
  return net::ip_address::parse(host.substr(0, host.find('%'))).has_value();
}

/// RFC 6265bis section 5.1.3; both are in lower case.
bool is_within(std::string_view host, std::string_view domain) noexcept {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) &&
         host[host.size() - domain.size() - 1] == '.' && !is_address(host);
}

std::string_view request_path(const url_parts& url) noexcept {
  const std::string_view path = url.target.substr(0, url.target.find('?'));
  return path.empty() ? "/" : path;
}

/// RFC 6265bis section 5.1.4.
std::string_view default_path(std::string_view path) noexcept {
  const std::size_t last = path.rfind('/');
  return last == 0 || last == std::string_view::npos ? "/" : path.substr(0, last);
}

bool is_below(std::string_view path, std::string_view cookie_path) noexcept {
  return path.starts_with(cookie_path) &&
         (path.size() == cookie_path.size() || cookie_path.ends_with('/') ||
          path[cookie_path.size()] == '/');
}

bool begins_with(std::string_view text, std::string_view prefix) noexcept {
  return equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

/// What a name requires (RFC 6265bis section 4.1.3); empty: it is fulfilled.
std::string_view fault_of_prefix(const kept_cookie& made, bool has_path) noexcept {
  // Some servers read the value of a cookie without a name as name=value.
  const std::string_view name = made.name.empty() ? made.value : made.name;
  const bool is_host = begins_with(name, "__Host-");
  if (!is_host && !begins_with(name, "__Secure-")) return {};
  if (made.name.empty()) return "it has no name, and its value begins with a reserved prefix";
  if (!made.secure) return "its name requires Secure";
  if (is_host && (!made.host_only || !has_path || made.path != "/"))
    return "its name requires Path=/ and no Domain";
  return {};
}

/// The Domain that the host may set; empty: the cookie is for the host only.
std::expected<std::string, std::string_view> judge_domain(std::string_view host,
                                                          std::string_view asked) {
  std::string domain = in_lower_case(asked);
  if (domain.empty() || domain == host) {
    if (domain == host && (is_address(host) || is_public_suffix(domain))) domain.clear();
    return domain;
  }
  if (!is_within(host, domain)) return std::unexpected{"its Domain does not match the host"};
  if (is_public_suffix(domain)) return std::unexpected{"its Domain is a public suffix"};
  return domain;
}

}  // namespace

cookie_jar::cookie_jar(const event_loop& loop, const cookie_jar_options& options)
    : cookie_jar{
          [&loop] { return std::chrono::floor<std::chrono::seconds>(loop.wall_now()).count(); },
          options} {}

cookie_jar::cookie_jar(wall_clock now, const cookie_jar_options& options)
    : now_{std::move(now)}, options_{options} {}

cookie_jar::~cookie_jar() = default;

bool cookie_jar::knows_public_suffixes() { return http::knows_public_suffixes(); }

void cookie_jar::clear() noexcept {
  domains_.clear();
  kept_.clear();
  bytes_ = 0;
}

// ---- what is set ------------------------------------------------------------------------------

std::expected<void, std::string_view> cookie_jar::set(std::string_view url,
                                                      std::string_view set_cookie) {
  std::string room;
  const auto from = read_url(url, room);
  if (!from) return std::unexpected{"the URL is invalid"};
  return store(*from, set_cookie);
}

void cookie_jar::take(const url_parts& from, const header_list& headers) {
  for (std::size_t at = headers.index_of("set-cookie"); at < headers.size();
       at = headers.index_of("set-cookie", at + 1)) [[maybe_unused]]
    const auto passed_over = store(from, headers[at].value);
}

std::expected<void, std::string_view> cookie_jar::store(const url_parts& from,
                                                        std::string_view set_cookie) {
  const std::int64_t now = now_();
  const auto read = read_set_cookie(set_cookie, now);
  if (!read) return std::unexpected{read.error()};
  const std::string host = host_key(from);
  auto domain = judge_domain(host, read->domain);
  if (!domain) return std::unexpected{domain.error()};
  entry made{
      {.name = std::string{read->name},
       .value = std::string{read->value},
       .domain = domain->empty() ? host : *domain,
       .path = std::string{read->path.empty() ? default_path(request_path(from)) : read->path},
       .expires = read->expires,
       .same_site = read->same_site,
       .host_only = domain->empty(),
       .secure = read->secure,
       .http_only = read->http_only}};
  if (const auto fault = fault_of_prefix(made, !read->path.empty()); !fault.empty())
    return std::unexpected{fault};
  if (from.scheme != scheme::https) {
    if (made.secure) return std::unexpected{"it is Secure, but came over http"};
    if (shadows_secure(made)) return std::unexpected{"it would shadow a secure one"};
  }
  if (made.bytes() > options_.bytes) return std::unexpected{"it is larger than the jar may be"};
  const std::string kept_by = made.domain;
  erase_expired(kept_by, now);
  insert(std::move(made));
  erase_expired(kept_by, now);  // a cookie that has already expired only removes the old one
  return {};
}

/// Whether a cookie of http, which an attacker may have injected, would shadow a secure one (RFC
/// 6265bis section 5.7, "leave secure cookies alone").
bool cookie_jar::shadows_secure(const entry& made) const {
  return std::ranges::any_of(kept_, [&](const entry& each) {
    return each.secure && each.name == made.name && is_below(made.path, each.path) &&
           (is_within(each.domain, made.domain) || is_within(made.domain, each.domain));
  });
}

/// Replaces the same cookie, and keeps its creation order.
void cookie_jar::insert(entry made) {
  made.created = made.used = ++count_;
  if (const auto found = domains_.find(made.domain); found != domains_.end()) {
    const auto same = std::ranges::find_if(found->second, [&](const entries::iterator& each) {
      return each->name == made.name && each->path == made.path &&
             each->host_only == made.host_only;
    });
    if (same != found->second.end()) {
      made.created = (*same)->created;
      erase(*same);
    }
  }
  make_room(made);
  bytes_ += made.bytes();
  kept_.push_front(std::move(made));
  domains_[kept_.front().domain].push_back(kept_.begin());
}

void cookie_jar::make_room(const entry& made) {
  const auto found = domains_.find(made.domain);
  if (found != domains_.end() && found->second.size() >= options_.cookies_per_domain)
    erase(*std::ranges::min_element(found->second, {}, [](const entries::iterator& each) {
      return std::tuple{each->secure, each->used};
    }));
  while (!kept_.empty() &&
         (kept_.size() >= options_.cookies || bytes_ + made.bytes() > options_.bytes))
    erase(std::prev(kept_.end()));
}

void cookie_jar::erase(entries::iterator which) noexcept {
  const auto domain = domains_.find(which->domain);
  std::erase(domain->second, which);
  if (domain->second.empty()) domains_.erase(domain);
  bytes_ -= which->bytes();
  kept_.erase(which);
}

void cookie_jar::erase_expired(const std::string& domain, std::int64_t now) {
  const auto found = domains_.find(domain);
  if (found == domains_.end()) return;
  const std::vector<entries::iterator> all = found->second;
  for (const entries::iterator& each : all)
    if (each->expires && *each->expires <= now) erase(each);
}

// ---- what is sent -----------------------------------------------------------------------------

std::string cookie_jar::header_for(std::string_view url) {
  std::string room;
  const auto to = read_url(url, room);
  return to ? header_for(*to) : std::string{};
}

std::string cookie_jar::header_for(const url_parts& to) {
  if (kept_.empty()) return {};
  const std::int64_t now = now_();
  const std::string host = host_key(to);
  const std::string_view path = request_path(to);
  std::vector<entries::iterator> sent;
  const auto look_in = [&](const std::string& domain) {
    erase_expired(domain, now);
    const auto found = domains_.find(domain);
    if (found == domains_.end()) return;
    for (const entries::iterator& each : found->second)
      if ((!each->host_only || domain.size() == host.size()) && is_below(path, each->path) &&
          (!each->secure || to.scheme == scheme::https))
        sent.push_back(each);
  };
  look_in(host);
  if (!is_address(host))
    for (std::size_t dot = host.find('.'); dot != std::string::npos; dot = host.find('.', dot + 1))
      look_in(host.substr(dot + 1));
  // RFC 6265bis section 5.8.3.
  std::ranges::sort(sent, {}, [](const entries::iterator& each) {
    return std::tuple{-static_cast<std::int64_t>(each->path.size()), each->created};
  });
  std::string text;
  for (const entries::iterator& each : sent) {
    if (!text.empty()) text += "; ";
    if (!each->name.empty()) text.append(each->name).append("=");
    text += each->value;
    each->used = ++count_;
    kept_.splice(kept_.begin(), kept_, each);
  }
  return text;
}

std::vector<kept_cookie> cookie_jar::all() {
  const std::int64_t now = now_();
  std::vector<kept_cookie> found;
  found.reserve(kept_.size());
  for (const entry& each : kept_)
    if (!each.expires || *each.expires > now) found.push_back(each);
  return found;
}

}  // namespace weft::http
