#include <weft/store/mysql/replicas.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::store::mysql {
namespace {

constexpr duration replica_look_after = std::chrono::seconds{1};
constexpr duration lack_told_after = std::chrono::minutes{1};

/// So that shards do not all read from the same.
std::vector<server_address> beginning_at(std::vector<server_address> servers, unsigned shard) {
  const auto first = static_cast<std::ptrdiff_t>(shard % servers.size());
  std::ranges::rotate(servers, servers.begin() + first);
  return servers;
}

pool_options own_options(pool_options options, statement_room& room) {
  options.account.room = &room;
  ++options.connections_max;  // that of follow()
  return options;
}

}  // namespace

replicas::replicas(event_loop& loop, net::resolver& names, std::vector<server_address> servers,
                   pool_options options, telemetry::meter& meter)
    : loop_{loop},
      pool_{loop, names, beginning_at(std::move(servers), loop.shard()),
            own_options(std::move(options), room_), meter},
      reachable_{meter.gauge("store_replicas_reachable",
                             "Shards that read from a replica, over all shards")},
      asked_{meter.counter("store_replica_calls_total",
                           "Batches of look-ups, parts of scans and queries that a replica was "
                           "asked")} {}

replicas::~replicas() {
  if (is_there_ == true) reachable_.add(-1);
}

task<result<std::optional<connection_pool::lease>>> replicas::acquire() {
  std::optional<connection_pool::lease> given;
  if (is_there_ != true || is_in_doubt_) co_return given;
  const environment& env = co_await this_task::environment();
  auto lease = co_await with_deadline(answer_by(env), pool_.acquire());
  if (lease) {
    asked_.add();
    given.emplace(std::move(*lease));
    co_return given;
  }
  if (env.stop.stop_requested()) co_return fail(errc::cancelled);
  if (env.until.passed(loop_.now())) co_return fail(errc::timed_out);
  if (lease.error() == errc::limit_exceeded) co_return fail(errc::limit_exceeded);
  if (lease.error() != errc::timed_out) note(false);  // else all of its connections may be in use
  co_return given;
}

deadline replicas::answer_by(const environment& of) const noexcept {
  const time_point now = loop_.now();
  return deadline::at(now + std::min(answer_patience, (of.until.when() - now) / 2));
}

void replicas::was_silent(time_point since) noexcept {
  if (loop_.now() - since >= answer_patience) is_in_doubt_ = true;
}

task<void> replicas::follow() {
  std::optional<connection_pool::lease> by;
  while (!(co_await this_task::environment()).stop.stop_requested()) {
    if (const auto is_there = co_await look(by)) note(*is_there);
    if (const auto slept = co_await sleep_for(loop_, replica_look_after); !slept) co_return;
  }
}

task<std::optional<bool>> replicas::look(std::optional<connection_pool::lease>& by) {
  if (by && by->is_current()) {
    const auto alive = co_await with_timeout(answer_patience, (*by)->ping());
    if (alive) co_return true;
    if (alive.error() == errc::cancelled) co_return std::nullopt;
    if (alive.error() == errc::timed_out) give_up(*by, alive.error());
  }
  by.reset();
  auto next = co_await pool_.acquire();
  if (next) {
    by.emplace(std::move(*next));
    co_return true;
  }
  if (next.error() == errc::cancelled || next.error() == errc::limit_exceeded)
    co_return std::nullopt;
  co_return false;
}

void replicas::give_up(const connection_pool::lease& silent, error why) {
  is_in_doubt_ = true;  // as is the next of the list
  pool_.give_up(silent, why);
  given_up_->request_stop();
  given_up_.emplace();
}

void replicas::has_lacked(std::string_view why) {
  if (loop_.now() < tells_of_lack_) return;
  tells_of_lack_ = loop_.now() + lack_told_after;
  log::warning(weft::format("the main server is asked for what the replica {} does not have: {}",
                            pool_.server(), why));
}

void replicas::note(bool is_there) {
  is_in_doubt_ = false;
  if (is_there == is_there_) return;
  const bool was_there = is_there_ == true;
  is_there_ = is_there;
  if (is_there != was_there) reachable_.add(is_there ? 1 : -1);
  if (is_there)
    log::info("rows are read from a replica");
  else
    log::warning("rows are read from the main server, since no replica is to be had: " +
                 pool_.last_failure());
}

}  // namespace weft::store::mysql
