#include <weft/net/connector.hpp>

#include <algorithm>
#include <charconv>
#include <deque>
#include <exception>
#include <optional>

#include <weft/base/format.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::net {
namespace {

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};

result<host_and_port> parse_target(const std::string& target) {
  const std::size_t colon = target.rfind(':');
  host_and_port parsed;
  if (colon == std::string::npos || colon == 0) return fail(errc::invalid_argument);
  const char* const end = target.data() + target.size();
  const auto [stopped, code] = std::from_chars(target.data() + colon + 1, end, parsed.port);
  if (code != std::errc{} || stopped != end) return fail(errc::invalid_argument);
  parsed.host = target.substr(0, colon);
  if (parsed.host.contains(':')) return fail(errc::invalid_argument);  // IPv6 without brackets
  return parsed;
}

/// The addresses of one family, as far as they are known.
struct address_family {
  bool looking_up = false;
  std::deque<endpoint> untried;
  std::optional<error> failure;  // of the lookup
};

/// One connect(): its tasks live in `attempts_`, and tell it of their end.
class connecting {
 public:
  connecting(event_loop& loop, resolver& names, const connect_options& options,
             const environment& env) noexcept
      : loop_{loop}, names_{names}, options_{options}, env_{env}, attempts_{env} {}

  /// Where to look: one address, or a name.
  [[nodiscard]] result<void> aim(const std::string& target);
  [[nodiscard]] task<void> run();

  std::optional<tcp_stream> winner;
  std::vector<connect_failure::attempt> failures;
  [[nodiscard]] error reason() const noexcept;

 private:
  task<void> look_up(address_family& family, host_and_port of, int number);
  task<void> attempt(endpoint to);
  [[nodiscard]] bool ended() const noexcept;
  [[nodiscard]] std::optional<endpoint> next_address() noexcept;
  [[nodiscard]] bool begin_attempt();
  [[nodiscard]] time_point next_look() const noexcept;
  task<void> something();
  /// Of an attempt or a lookup, whichever way it ends.
  struct end_is_told {
    connecting& to;
    ~end_is_told() {
      if (to.nudge_ != nullptr) to.nudge_->request_stop();
    }
  };
  /// By the caller, or by an exception that has left one of the tasks.
  [[nodiscard]] bool cut_short() const noexcept {
    return attempts_.inherited().stop.stop_requested() || env_.until.passed(loop_.now());
  }

  event_loop& loop_;
  resolver& names_;
  const connect_options& options_;
  const environment& env_;
  scope attempts_;
  address_family ipv6_;
  address_family ipv4_;  // a single address as well, whatever it is
  bool ipv6_is_next_ = true;
  unsigned running_ = 0;                             // attempts
  time_point ipv4_waits_until_ = time_point::min();  // for IPv6 addresses
  time_point next_attempt_ = time_point::min();
  stop_source* nudge_ = nullptr;  // while something() waits
};

result<void> connecting::aim(const std::string& target) {
  const auto address = endpoint::parse(target);
  if (address) {
    ipv4_.untried.push_back(*address);
    return {};
  }
  if (address.error() != errc::invalid_argument) return fail(address.error());
  const auto parsed = parse_target(target);
  if (!parsed) return fail(parsed.error());
  // Both, or none: what has been spawned is to be waited for.
  task<void> ipv6 = look_up(ipv6_, *parsed, AF_INET6);
  task<void> ipv4 = look_up(ipv4_, *parsed, AF_INET);
  ipv6_.looking_up = ipv4_.looking_up = true;
  attempts_.spawn(std::move(ipv6));
  attempts_.spawn(std::move(ipv4));
  return {};
}

task<void> connecting::look_up(address_family& family, host_and_port of, int number) {
  const end_is_told telling{*this};
  auto found = co_await names_.resolve(std::move(of.host), of.port, number);
  family.looking_up = false;
  if (found)
    family.untried.assign(found->begin(), found->end());
  else
    family.failure = found.error();
  if (number == AF_INET) ipv4_waits_until_ = saturated_sum(loop_.now(), options_.resolution_delay);
}

task<void> connecting::attempt(endpoint to) {
  const end_is_told telling{*this};
  auto stream = co_await tcp_stream::connect(loop_, to);
  --running_;
  if (stream) {
    if (!winner) winner.emplace(std::move(*stream));
  } else {
    failures.push_back({.address = to, .why = stream.error()});
    next_attempt_ = time_point::min();
  }
}

bool connecting::ended() const noexcept {
  const auto exhausted = [](const address_family& family) {
    return !family.looking_up && family.untried.empty();
  };
  return winner.has_value() || cut_short() ||
         (running_ == 0 && exhausted(ipv4_) && exhausted(ipv6_));
}

/// By turns, as far as each family has one.
std::optional<endpoint> connecting::next_address() noexcept {
  const bool ipv4_waits = ipv6_.looking_up && loop_.now() < ipv4_waits_until_;
  const bool has_ipv4 = !ipv4_.untried.empty() && !ipv4_waits;
  const bool has_ipv6 = !ipv6_.untried.empty();
  if (!has_ipv4 && !has_ipv6) return std::nullopt;
  const bool takes_ipv6 = has_ipv6 && (ipv6_is_next_ || !has_ipv4);
  std::deque<endpoint>& from = takes_ipv6 ? ipv6_.untried : ipv4_.untried;
  ipv6_is_next_ = !takes_ipv6;
  const endpoint address = from.front();
  from.pop_front();
  return address;
}

/// False: it is not the time, or there is no address.
bool connecting::begin_attempt() {
  if (running_ != 0 && loop_.now() < next_attempt_) return false;
  const auto address = next_address();
  if (!address) return false;
  next_attempt_ = saturated_sum(loop_.now(), options_.attempt_delay);
  ++running_;
  attempts_.spawn(attempt(*address));
  return true;
}

/// When begin_attempt() may say something else though nothing has happened.
time_point connecting::next_look() const noexcept {
  time_point when = time_point::max();
  if (running_ != 0 && !(ipv4_.untried.empty() && ipv6_.untried.empty()))
    when = std::max(next_attempt_, loop_.now());
  if (ipv6_.looking_up && !ipv4_.untried.empty() && loop_.now() < ipv4_waits_until_)
    when = running_ == 0 ? ipv4_waits_until_ : std::max(when, ipv4_waits_until_);
  return when;
}

task<void> pause(event_loop& loop, time_point until) {
  [[maybe_unused]] const auto slept = co_await sleep_until{loop, until};
}

/// Until an attempt or a lookup has ended, or it is time to look again.
task<void> connecting::something() {
  stop_source nudge{env_.stop};
  nudge_ = &nudge;
  const environment until_nudged{
      .stop = nudge.token(), .until = env_.until, .runs_on = env_.runs_on};
  co_await pause(loop_, next_look()).in(until_nudged);
  nudge_ = nullptr;
}

task<void> connecting::run() {
  std::exception_ptr failure;
  try {
    while (!ended())
      if (!begin_attempt()) co_await something();
  } catch (...) {
    failure = std::current_exception();  // what is under way is to be waited for all the same
  }
  attempts_.request_stop();
  co_await attempts_.join();
  if (failure) std::rethrow_exception(failure);
}

error connecting::reason() const noexcept {
  if (env_.stop.stop_requested()) return errc::cancelled;
  if (env_.until.passed(loop_.now())) return errc::timed_out;
  if (!failures.empty()) return failures.back().why;
  return ipv4_.failure.value_or(ipv6_.failure.value_or(errc::not_found));
}

}  // namespace

std::string connect_failure::message() const {
  std::string text = weft::format("cannot connect to {}: ", target);
  if (attempts.empty())
    return text + (why == errc::not_found && !zone_of(target).empty() ? no_such_zone(target)
                                                                      : why.message());
  for (std::size_t i = 0; i < attempts.size(); ++i)
    text += weft::format("{}{}: {}", i == 0 ? "" : "; ", attempts[i].address.to_string(),
                         attempts[i].why.message());
  return text;
}

task<std::expected<tcp_stream, connect_failure>> connect(event_loop& loop, resolver& names,
                                                         std::string target,
                                                         connect_options options) {
  environment env = co_await this_task::environment();
  env.until = std::min(env.until, deadline::at(saturated_sum(loop.now(), options.timeout)));
  connecting work{loop, names, options, env};
  const auto aimed = work.aim(target);
  if (aimed) co_await work.run();
  if (work.winner) co_return std::move(*work.winner);
  const error why = aimed ? work.reason() : aimed.error();
  co_return std::unexpected{connect_failure{
      .why = why, .target = std::move(target), .attempts = std::move(work.failures)}};
}

}  // namespace weft::net
