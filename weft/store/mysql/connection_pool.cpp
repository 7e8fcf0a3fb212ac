#include <weft/store/mysql/connection_pool.hpp>

#include <algorithm>
#include <cstdint>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/mysql/server_errors.hpp>

namespace weft::store::mysql {
namespace {

/// Whether it was the caller that could wait no longer, and not the server that was too slow.
bool has_given_up(const environment& env, time_point now) noexcept {
  return env.stop.stop_requested() || env.until.passed(now);
}

}  // namespace

connection_pool::counts::counts(telemetry::meter& meter)
    : opened{meter.counter("store_connections_opened_total", "Connections made to servers")},
      failed{meter.counter("store_connect_failures_total", "Attempts to connect that failed")},
      lost{meter.counter("store_connections_lost_total",
                         "Connections that ended while they were wanted")},
      given_up{meter.counter("store_servers_given_up_total",
                             "How often a server was, since it served no more")},
      open{meter.gauge("store_connections_open", "Connections to servers, now")},
      waits{meter.histogram("store_connection_wait_ns",
                            "How long was waited for a connection to come free")} {}

connection_pool::connection_pool(event_loop& loop, net::resolver& names,
                                 std::vector<server_address> servers, const pool_options& options,
                                 telemetry::meter& meter)
    : timer{idle_kind},
      loop_{loop},
      names_{names},
      options_{options},
      counts_{meter},
      servers_{std::move(servers), options.retry_first, options.retry_most,
               static_cast<std::uint64_t>(loop.now().time_since_epoch().count()) +
                   (std::uint64_t{loop.shard()} << 32)} {
  idle_.reserve(options.connections_max);
}

connection_pool::~connection_pool() {
  WEFT_ASSERT(taken_ == idle_.size() && past_ == 0,
              "leases of a pool end before it: end the tasks that have them");
  loop_.disarm(*this);
  counts_.open.add(-static_cast<std::int64_t>(idle_.size()));
}

result<connection_pool::idle_connection> connection_pool::turn_wait::await_resume() noexcept {
  if (has_waited_) {
    --pool_.waiting_;
    pool_.counts_.waits.record(pool_.loop_.now() - since_);
  }
  if (!outcome()) return fail(outcome().error());
  return std::move(given_);
}

bool connection_pool::turn_wait::take() noexcept {
  pool_.serve();
  if (pool_.line_.empty() && pool_.give(*this)) return true;
  if (pool_.is_hopeless()) {
    answer(fail(pool_.failure_));
    return true;
  }
  if (pool_.waiting_ == pool_.options_.waiting_max) {
    answer(fail(errc::limit_exceeded));
    return true;
  }
  ++pool_.waiting_;
  has_waited_ = true;
  since_ = pool_.loop_.now();
  return false;
}

bool connection_pool::give(turn_wait& to) noexcept {
  if (!idle_.empty()) {
    to.given_ = std::move(idle_.back());
    idle_.pop_back();
    return true;
  }
  if (is_dialling_ || taken_ == options_.connections_max || !servers_.may_try_any(loop_.now()))
    return false;
  ++taken_;
  is_dialling_ = true;
  return true;
}

bool connection_pool::is_hopeless() const noexcept {
  return taken_ == 0 && !servers_.may_try_any(loop_.now());
}

void connection_pool::serve() noexcept {
  while (waiter* const first = line_.front()) {
    if (!give(static_cast<turn_wait&>(*first))) break;
    first->wake();
  }
  if (is_hopeless()) line_.wake_all(fail(failure_));
}

task<result<connection_pool::lease>> connection_pool::acquire() {
  while (true) {
    auto given = co_await turn_wait{*this};
    if (!given) co_return fail(given.error());
    if (given->kept == nullptr) {
      auto made = co_await dial();
      // Those whom a full server has let in come back.
      const bool may_wait =
          !made && taken_ != 0 && !has_given_up(co_await this_task::environment(), loop_.now());
      if (!may_wait) co_return made;
      continue;
    }
    const auto is_fit = co_await check(*given);
    if (!is_fit) co_return fail(is_fit.error());
    if (*is_fit) co_return lease{*this, std::move(given->kept), given->epoch};
  }
}

task<result<bool>> connection_pool::check(idle_connection& given) {
  const duration idle = loop_.now() - given.since;
  if (idle >= options_.look_after && given.kept->has_ended()) {
    drop(std::move(given.kept), given.epoch);
    serve();
    co_return false;
  }
  if (!given.is_doubtful && idle < options_.check_after) co_return true;
  const auto alive = co_await with_timeout(options_.connect_timeout, given.kept->ping());
  const bool is_current = given.epoch == epoch_;
  if (alive && is_current) co_return true;
  const bool is_callers = !alive && has_given_up(co_await this_task::environment(), loop_.now());
  if (is_callers && is_current && given.kept->is_open()) {
    keep(std::move(given));
  } else {
    const bool is_of_all =
        !alive && !is_callers &&
        (alive.error() == errc::timed_out || is_of_whole_server(given.kept->server_error()));
    if (is_of_all && is_current) lose_server(alive.error(), *given.kept);
    drop(std::move(given.kept), given.epoch);
  }
  serve();
  if (is_callers) co_return fail(alive.error());
  co_return false;
}

task<result<connection_pool::lease>> connection_pool::dial() {
  auto made = co_await try_servers();
  is_dialling_ = false;
  if (made) {
    counts_.opened.add();
    counts_.open.add(1);
  } else {
    --taken_;
  }
  serve();
  if (!made) co_return fail(made.error());
  co_return lease{*this, std::move(*made), epoch_};
}

task<result<std::unique_ptr<connection>>> connection_pool::try_servers() {
  result<std::unique_ptr<connection>> made = fail(failure_);
  std::string failures;
  for (std::size_t place = 0; place < servers_.size(); ++place) {
    if (!servers_.may_try(place, loop_.now())) continue;
    const server_address& server = servers_.at(place);
    made = co_await try_addresses(server);
    if (made) {
      if (place != 0)
        log::warning(
            weft::format("the rows are asked of {} from now on: {}", server.text(), failure_text_));
      servers_.succeeded(place);
      break;
    }
    if (has_given_up(co_await this_task::environment(), loop_.now())) break;
    counts_.failed.add();
    servers_.failed(place, loop_.now());
    failure_ = made.error();
    failures += (failures.empty() ? "" : "; ") + failure_text_;
    // One that is full is no worse to those that it has let in.
    const bool is_full = refusal_ != 0 && !is_of_whole_server(refusal_) && taken_ > 1;
    if (!servers_.is_given_up() && !is_full) give_up_server();
  }
  if (!failures.empty()) failure_text_ = std::move(failures);
  co_return made;
}

task<result<std::unique_ptr<connection>>> connection_pool::try_addresses(const server_address& of) {
  const auto addresses = co_await of.look_up(names_);
  if (!addresses) {
    refusal_ = 0;
    failure_text_ = weft::format("cannot look up {}: {}", of.text(), addresses.error().message());
    co_return fail(addresses.error());
  }
  error why{errc::unavailable};
  const connection_options account = options_.account;  // whose password may change meanwhile
  for (const net::endpoint& address : *addresses) {
    auto made = std::make_unique<connection>(loop_);
    const auto opened =
        co_await with_timeout(options_.connect_timeout, made->open(address, account, of.host()));
    if (opened) co_return made;
    why = opened.error();
    refusal_ = made->server_error();
    failure_text_ =
        weft::format("cannot connect to {}: {}", address.to_string(), made->failure_for_log());
  }
  co_return fail(why);
}

void connection_pool::give_up(const lease& of, error why) {
  if (!of.is_current()) return;
  lose_server(why, *of);
  serve();
}

bool connection_pool::is_to_be_left(connection& by) noexcept {
  if (!by.take_read_only_refusal() || servers_.size() == 1 || loop_.now() < stays_until_)
    return false;
  stays_until_ = loop_.now() + options_.retry_most;
  return true;
}

void connection_pool::take_back(std::unique_ptr<connection> returned,
                                std::uint64_t epoch) noexcept {
  returned->give_back_row();
  const bool is_current = epoch == epoch_;
  if (is_current && returned->is_open() && !is_to_be_left(*returned)) {
    keep({.kept = std::move(returned), .since = loop_.now(), .epoch = epoch});
  } else {
    const unsigned last = returned->server_error();
    const bool is_cut_off = has_waited_in_vain(last) && servers_.size() > 1;
    if (is_current && (returned->is_open() || is_of_whole_server(last) || is_cut_off))
      lose_server(errc::unavailable, *returned);
    drop(std::move(returned), epoch);
  }
  serve();
}

void connection_pool::keep(idle_connection returned) noexcept {
  if (!armed()) loop_.arm(*this, returned.since + options_.idle_max);
  idle_.push_back(std::move(returned));
}

void connection_pool::drop(std::unique_ptr<connection> lost, std::uint64_t epoch) noexcept {
  lost.reset();
  if (epoch == epoch_) {
    --taken_;
    for (idle_connection& each : idle_) each.is_doubtful = true;
  } else {
    --past_;
  }
  counts_.lost.add();
  counts_.open.add(-1);
}

void connection_pool::lose_server(error why, const connection& by) {
  failure_ = why;
  failure_text_ =
      weft::format("{} serves no more: {}", servers_.at(0).text(), by.failure_for_log());
  servers_.failed(0, loop_.now());
  give_up_server();
}

void connection_pool::give_up_server() noexcept {
  const std::size_t being_made = is_dialling_ ? 1 : 0;
  past_ += taken_ - idle_.size() - being_made;
  taken_ = being_made;
  counts_.open.add(-static_cast<std::int64_t>(idle_.size()));
  counts_.given_up.add();
  idle_.clear();
  ++epoch_;
  servers_.give_up();
}

/// Those used longest ago stand first.
void connection_pool::on_time(timer& self) noexcept {
  auto& pool = static_cast<connection_pool&>(self);
  const time_point now = pool.loop_.now();
  const auto fresh = std::ranges::find_if(pool.idle_, [&](const idle_connection& each) {
    return now - each.since < pool.options_.idle_max;
  });
  const auto closed = fresh - pool.idle_.begin();
  pool.taken_ -= static_cast<std::size_t>(closed);
  pool.counts_.open.add(-closed);
  pool.idle_.erase(pool.idle_.begin(), fresh);
  if (!pool.idle_.empty()) pool.loop_.arm(pool, pool.idle_.front().since + pool.options_.idle_max);
}

}  // namespace weft::store::mysql
