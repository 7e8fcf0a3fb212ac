#include <apps/weftd/access.hpp>

#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/headers.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/activation.hpp>
#include <weft/net/address_book.hpp>
#include <weft/net/ip_address.hpp>
#include <weft/service/logger.hpp>
#include <weft/telemetry/meter.hpp>

namespace weftd {
namespace {

namespace http = weft::http;
namespace net = weft::net;

std::string_view prefix_of_key(const api_key& key) noexcept { return key.entry().prefix; }

api_fault unauthorized(std::string message) {
  return {http::status::unauthorized, std::move(message),
          "WWW-Authenticate: ApiKey realm=\"weftd\"\r\n"};
}

api_fault too_often(const http::rate_verdict& verdict) {
  const auto seconds = http::retry_after_seconds(verdict);
  return {http::status::too_many_requests,
          weft::format("the apikey is used more often than allowed: try again in {} s", seconds),
          weft::format("Retry-After: {}\r\n", seconds)};
}

weft::telemetry::counter refused_for(weft::telemetry::meter& meter, std::string_view reason) {
  return meter.counter("weftd_keys_refused_total", "Requests whose API key was refused",
                       {{"reason", reason}});
}

/// "localhost", or an address: names are what somebody else's name server makes of them.
bool is_local_name(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    return close != std::string_view::npos &&
           net::ip_address::parse(authority.substr(1, close - 1)).has_value();
  }
  const std::string_view host = authority.substr(0, authority.rfind(':'));
  constexpr std::string_view local = ".localhost";
  std::string_view name = host;
  if (name.ends_with('.')) name.remove_suffix(1);  // fully qualified
  const std::string_view end = name.substr(name.size() - std::min(name.size(), local.size()));
  return http::equals_ignoring_case(name, local.substr(1)) ||
         http::equals_ignoring_case(end, local) || net::ip_address::parse(host);
}

/// Whether browsers that say for whose page they ask (Fetch Metadata) say another site's.
bool is_of_another_site(const http::header_list& fields) {
  if (!fields.find("sec-fetch-site")) return false;
  const auto site = fields.only("sec-fetch-site");
  return site != "same-origin" && site != "none";
}

/// Whether no page of another site has had a browser send it: it says who it believes to ask (RFC
/// 9110 section 7.2), and browsers say whose page it was (RFC 6454 section 7). A request that does
/// not say whom it believes to ask, or says so twice, is not from here; one without an origin is,
/// since browsers have one with all that they POST.
bool is_asked_from_here(const http::exchange& e) {
  if (e.is_from_unix_socket()) return true;  // which no browser asks by
  const http::header_list& fields = e.request().headers();
  const auto host = fields.only("host");
  if (!host || !is_local_name(*host) || is_of_another_site(fields)) return false;
  if (!fields.find("origin")) return true;
  const std::string_view origin = fields.only("origin").value_or(std::string_view{});
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos &&
         http::equals_ignoring_case(origin.substr(scheme + 3), *host);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return lines;
}

bool is_of_this_machine(const net::endpoint& where) {
  if (where.family() == AF_UNIX) return true;
  const auto address = net::ip_address::of(where);
  return address && (net::ip_network::parse("127.0.0.0/8")->contains(*address) ||
                     net::ip_network::parse("::1")->contains(*address));
}

}  // namespace

checked permit::allows(right wanted, std::string_view database) const {
  if (key_ == nullptr || key_->allows(wanted, database)) return {};
  return std::unexpected{unauthorized(weft::format(
      "API key not authorized to {} {}", wanted == right::read ? "access" : "write to", database))};
}

access::access(access_options options, weft::event_loop& loop, weft::logger& log,
               weft::telemetry::meter& meter)
    : options_{std::move(options)},
      loop_{loop},
      log_{log},
      rate_{http::make_rate_limiter("weftd.access.rate", options_.rate)},
      no_key_{refused_for(meter, "missing")},
      wrong_key_{refused_for(meter, "wrong")},
      too_often_{refused_for(meter, "rate")},
      foreign_page_{refused_for(meter, "foreign_page")} {}

weft::result<void> access::start() { return reload(); }

weft::result<void> access::reload() {
  if (options_.keys.empty()) return {};
  if (const auto done = read(); !done) {
    log_.error("{}", done.error());
    return weft::fail(weft::errc::invalid_argument);
  }
  if (loop_.shard() == 0 && keys_.empty())
    log_.warning("{} has no keys: nobody may read or write; `weftd keygen` makes one",
                 options_.keys);
  else if (loop_.shard() == 0)
    log_.info("{} key{} in {}", keys_.size(), keys_.size() == 1 ? "" : "s", options_.keys);
  return {};
}

std::expected<void, std::string> access::read() {
  auto entries = read_keys(options_.keys);
  if (!entries) return std::unexpected{std::move(entries).error()};
  keys_.clear();
  keys_.reserve(entries->size());
  for (key_entry& each : *entries) keys_.emplace_back(std::move(each));
  std::ranges::sort(keys_, {}, prefix_of_key);
  return {};
}

bool access::may_send_body(const http::header_list& fields) {
  return !uses_keys() || find_key(fields).has_value();
}

std::expected<permit, api_fault> access::identify(const http::exchange& e) {
  if (!uses_keys()) {
    if (options_.insecure_allow_all || is_asked_from_here(e)) return permit::for_all();
    foreign_page_.add();
    return std::unexpected{unauthorized(
        "without API keys only programs of this machine are served, and pages of its own: not what "
        "another site's page asks for. weftd keygen makes keys; --insecure-allow-all does "
        "without")};
  }
  auto key = find_key(e.request().headers());
  if (key && e.lacks_body()) key = std::unexpected{unauthorized("the apikey was unknown just now")};
  if (!key) {
    (e.request().header(key_header) ? wrong_key_ : no_key_).add();
    return std::unexpected{std::move(key).error()};
  }
  if (!rate_) return permit{**key};
  const http::rate_verdict verdict = rate_->admit((*key)->entry().prefix, loop_.now());
  if (verdict.admitted) return permit{**key};
  too_often_.add();
  return std::unexpected{too_often(verdict)};
}

std::expected<const api_key*, api_fault> access::find_key(const http::header_list& fields) {
  const auto sent = fields.find(key_header);
  if (!sent || sent->empty())
    return std::unexpected{unauthorized("the apikey is nil: send it as X-API-KEY")};
  if (!fields.only(key_header))
    return std::unexpected{unauthorized("the apikey is given twice: send one X-API-KEY")};
  if (sent->find('.') != key_prefix_size)
    return std::unexpected{unauthorized("the apikey has an incorrect format: it is PREFIX.SECRET")};
  const api_key* const key = find(*sent);
  if (key == nullptr) return std::unexpected{unauthorized("the apikey is unknown")};
  return key;
}

api_key* access::find(std::string_view sent) {
  const std::string_view prefix = sent.substr(0, key_prefix_size);
  const auto found = std::ranges::lower_bound(keys_, prefix, {}, prefix_of_key);
  if (found == keys_.end() || prefix_of_key(*found) != prefix) return nullptr;
  return found->admits(sent.substr(key_prefix_size + 1)) ? &*found : nullptr;
}

std::vector<std::string> check_exposure(const access_options& given, const std::string& listen,
                                        net::address_book& addresses) {
  if (!given.keys.empty()) {
    const auto keys = read_keys(given.keys);
    if (!keys) return lines_of(keys.error());
    if (!keys->empty()) return {};
    return {weft::format("{}: no keys; `weftd keygen --databases NAME >> {}` makes one", given.keys,
                         given.keys)};
  }
  if (given.insecure_allow_all) return {};
  const auto where =
      net::is_activated(listen) ? addresses.claim(listen) : net::endpoint::parse(listen);
  if (!where || is_of_this_machine(*where)) return {};  // what is no address, the server tells
  return {weft::format(
      "{} can be reached from other machines, and whoever reaches it may read and write all: make "
      "keys (`weftd keygen --databases NAME >> keys.toml`) and serve with --keys keys.toml, listen "
      "on 127.0.0.1, or say --insecure-allow-all",
      listen)};
}

}  // namespace weftd
