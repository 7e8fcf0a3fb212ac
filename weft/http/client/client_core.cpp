#include <weft/http/client/client_core.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/http/client/cookie_jar.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

/// For a client that has asked little so far.
constexpr unsigned retries_saved = 10;

/// "https://host:65535" for hosts of 255 bytes at most, in lower case; "http://fe80::1%eth0:80", in
/// a zone, which none but addresses have.
class origin_name {
 public:
  explicit origin_name(const url_parts& of) noexcept {
    add(to_string(of.scheme));
    add("://");
    add(of.host);
    if (!of.zone.empty()) {
      add("%");
      size_ = static_cast<std::size_t>(std::ranges::copy(of.zone, room_.data() + size_).out -
                                       room_.data());
    }
    add(":");
    char* const end = room_.data() + room_.size();
    size_ = static_cast<std::size_t>(std::to_chars(room_.data() + size_, end, of.port).ptr -
                                     room_.data());
  }
  [[nodiscard]] std::string_view text() const noexcept { return {room_.data(), size_}; }

 private:
  void add(std::string_view text) noexcept {
    for (const char c : text)
      room_[size_++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::array<char, 280> room_;
  std::size_t size_ = 0;
};

bool has_field(std::string_view lines, std::string_view name) noexcept {
  while (!lines.empty()) {
    if (equals_ignoring_case(lines.substr(0, lines.find(':')), name)) return true;
    lines.remove_prefix(lines.find('\n') + 1);
  }
  return false;
}

limits bounds_of(const client_options& options, std::uint64_t body_bytes) {
  return {.request_line_bytes = std::min<std::size_t>(options.head_bytes, 8 * 1024),
          .head_bytes = options.head_bytes,
          .body_bytes = body_bytes};
}

}  // namespace

client_core::client_core(client_options given, event_loop& on, telemetry::meter& meter)
    : loop{on},
      options{with_ascii_hosts(std::move(given))},
      bounds{bounds_of(options, options.body_bytes)},
      stream_bounds{bounds_of(options, UINT64_MAX)},
      counts{meter},
      websockets{meter, "http_client_websocket"},
      dialer{on, options},
      again{options.retry_percent, retries_saved},
      dice{static_cast<std::uint64_t>(on.now().time_since_epoch().count())},
      workers{environment{.runs_on = &on}} {}

client_core::~client_core() {
  WEFT_ASSERT(requests_.empty() && origins_.empty(),
              "a client ends after its requests and connections: stop() it first");
}

origin_pool& client_core::origin_of(const url_parts& to) {
  const origin_name name{to};
  if (const auto found = origins_.find(name.text()); found != origins_.end()) return *found->second;
  auto made = std::make_unique<origin_pool>(*this, name.text(), options.connections_per_host);
  const std::string_view key = made->name();
  return *origins_.emplace(key, std::move(made)).first->second;
}

void client_core::forget(origin_pool& origin) noexcept {
  const auto found = origins_.find(origin.name());
  // The name lies in the origin: it goes after its entry.
  const std::unique_ptr<origin_pool> last = std::move(found->second);
  origins_.erase(found);
}

std::string client_core::cookie_line(const url_parts& to, std::string_view fields) {
  if (!cookies || has_field(fields, "cookie")) return {};
  const std::string value = cookies->header_for(to);
  return value.empty() ? value : weft::format("Cookie: {}\r\n", value);
}

void client_core::take_cookies(const url_parts& from, const header_list& headers) {
  if (cookies) cookies->take(from, headers);
}

void client_core::close_kept() {
  std::vector<origin_pool*> all;
  for (const auto& [name, origin] : origins_) all.push_back(origin.get());
  for (origin_pool* each : all) each->close_kept();
}

void client_core::cut_requests() noexcept {
  for (request_under_way& each : requests_) each.stop_.request_stop();
}

void client_core::cut_streams() noexcept {
  while (open_stream* const next = streams.pop_front()) next->cut(*next);
}

task<void> client_core::see_requests_end() {
  while (!requests_.empty()) {
    last_has_ended_.reset();
    const auto ended = co_await last_has_ended_.wait();
    if (!ended) co_return;
  }
}

void client_core::count_session(int change) noexcept {
  sessions_ += change;
  if (sessions_ == 0) last_session_has_ended_.set();
}

task<void> client_core::end_sessions() {
  close_kept();
  workers.request_stop();
  while (sessions_ != 0) {
    last_session_has_ended_.reset();
    const auto ended = co_await last_session_has_ended_.wait();
    if (!ended) break;
  }
  co_await workers.join();
}

client_core::request_under_way::request_under_way(client_core& of,
                                                  const environment& caller) noexcept
    : core_{of}, stop_{caller.stop}, env_{caller} {
  env_.stop = stop_.token();
  env_.until =
      std::min(caller.until, deadline::at(saturated_sum(of.loop.now(), of.options.timeout)));
  core_.requests_.push_back(*this);
}

client_core::request_under_way::~request_under_way() {
  hook_.unlink();
  if (core_.requests_.empty()) core_.last_has_ended_.set();
}

}  // namespace weft::http
