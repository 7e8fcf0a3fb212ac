#include <weft/store/mysql/connection_pool.hpp>

#include <algorithm>
#include <cstdint>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>

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
      open{meter.gauge("store_connections_open", "Connections to servers, now")},
      waits{meter.histogram("store_connection_wait_ns",
                            "How long was waited for a connection to come free")} {}

connection_pool::connection_pool(event_loop& loop, net::resolver& names, server_address server,
                                 const pool_options& options, telemetry::meter& meter)
    : timer{idle_kind},
      loop_{loop},
      names_{names},
      server_{std::move(server)},
      options_{options},
      counts_{meter},
      pace_{options.retry_first, options.retry_most,
            static_cast<std::uint64_t>(loop.now().time_since_epoch().count()) + loop.shard()} {
  idle_.reserve(options.connections_max);
}

connection_pool::~connection_pool() {
  WEFT_ASSERT(taken_ == idle_.size(),
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
  if (is_dialling_ || taken_ == options_.connections_max || !pace_.is_open(loop_.now()))
    return false;
  ++taken_;
  is_dialling_ = true;
  return true;
}

bool connection_pool::is_hopeless() const noexcept {
  return taken_ == 0 && !pace_.is_open(loop_.now());
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
      if (!made) co_return fail(made.error());
      co_return lease{*this, std::move(*made)};
    }
    const auto is_fit = co_await check(*given);
    if (!is_fit) co_return fail(is_fit.error());
    if (*is_fit) co_return lease{*this, std::move(given->kept)};
  }
}

task<result<bool>> connection_pool::check(idle_connection& given) {
  if (!given.is_doubtful && loop_.now() - given.since < options_.check_after) co_return true;
  const auto alive = co_await with_timeout(options_.connect_timeout, given.kept->ping());
  if (alive) co_return true;
  const bool is_callers = has_given_up(co_await this_task::environment(), loop_.now());
  if (is_callers && given.kept->is_open())
    keep(std::move(given));
  else
    drop(std::move(given.kept));
  serve();
  if (is_callers) co_return fail(alive.error());
  co_return false;
}

task<result<std::unique_ptr<connection>>> connection_pool::dial() {
  auto made = co_await try_addresses();
  is_dialling_ = false;
  if (made) {
    pace_.succeeded();
    counts_.opened.add();
    counts_.open.add(1);
  } else {
    --taken_;
    if (!has_given_up(co_await this_task::environment(), loop_.now())) {
      failure_ = made.error();
      counts_.failed.add();
      pace_.failed(loop_.now());
    }
  }
  serve();
  co_return made;
}

task<result<std::unique_ptr<connection>>> connection_pool::try_addresses() {
  const auto addresses = co_await server_.look_up(names_);
  if (!addresses) {
    failure_text_ = weft::format("cannot look the server up: {}", addresses.error().message());
    co_return fail(addresses.error());
  }
  error why{errc::unavailable};
  for (const net::endpoint& address : *addresses) {
    auto made = std::make_unique<connection>(loop_);
    const auto opened =
        co_await with_timeout(options_.connect_timeout, made->open(address, options_.account));
    if (opened) co_return made;
    why = opened.error();
    failure_text_ =
        weft::format("cannot connect to {}: {}", address.to_string(), made->last_failure().message);
  }
  co_return fail(why);
}

void connection_pool::take_back(std::unique_ptr<connection> returned) noexcept {
  if (returned->is_open())
    keep({.kept = std::move(returned), .since = loop_.now()});
  else
    drop(std::move(returned));
  serve();
}

void connection_pool::keep(idle_connection returned) noexcept {
  if (!armed()) loop_.arm(*this, returned.since + options_.idle_max);
  idle_.push_back(std::move(returned));
}

void connection_pool::drop(std::unique_ptr<connection> lost) noexcept {
  lost.reset();
  --taken_;
  for (idle_connection& each : idle_) each.is_doubtful = true;
  counts_.lost.add();
  counts_.open.add(-1);
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
