#include <weft/store/mysql/engine_state.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/counted_use.hpp>
#include <weft/store/mysql/enumerated.hpp>
#include <weft/store/mysql/schema_reader.hpp>
#include <weft/store/mysql/server_url.hpp>
#include <weft/store/mysql/write_run.hpp>

namespace weft::store::mysql {
namespace {

constexpr duration look_after = std::chrono::seconds{5};
constexpr duration retry_after = std::chrono::milliseconds{200};

bool is_unchanged(const catalog& known, const std::vector<catalog::database_definition>& found) {
  if (known.databases().size() != found.size()) return false;
  std::size_t tables = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (known.databases()[i] != found[i].name) return false;
    for (const table_definition& each : found[i].tables) {
      if (tables == known.tables().size() || known.tables()[tables++]->definition() != each)
        return false;
    }
  }
  return tables == known.tables().size();
}

std::vector<server_address> addresses_of(const server_url& given) {
  std::vector<server_address> servers;
  servers.reserve(given.addresses.size());
  for (const std::string& each : given.addresses) servers.push_back(*server_address::parse(each));
  return servers;
}

}  // namespace

engine::state::state(engine_options from_config, event_loop& on, lifetime& owner,
                     telemetry::meter& its_meter)
    : options{std::move(from_config)},
      loop{on},
      own{owner},
      meter{its_meter},
      counts{its_meter},
      misses{on, owner, [this] { return with_timeout(options.read_time, look_now()); },
             counts.looks},
      queries{options.queries_max} {
  // No row, nor a batch of them, is given more than an eighth of the memory budget.
  const std::uint64_t most = on.memory().budget().limit() / 8;
  options.read_memory_bytes = std::min(options.read_memory_bytes, most);
}

result<void> engine::state::make_pool(std::string password) {
  auto given = read_server_url(options.server);
  if (!given) {
    log::error("store.mysql.engine.server: " + given.error());
    return fail(errc::invalid_argument);
  }
  if (!given->user.empty()) options.user = std::move(given->user);
  if (!given->databases.empty()) options.databases = std::move(given->databases);
  auto made = net::resolver::create(loop);
  if (!made) return fail(made.error());
  names.emplace(std::move(*made));
  const pool_options connections{.account = {.user = options.user,
                                             .password = std::move(password),
                                             .statement_time = options.statement_time,
                                             .silence_max = options.connect_timeout,
                                             .row_bytes_max = options.read_memory_bytes,
                                             .statements_max = options.statements_max,
                                             .tls = given->tls_or(options.tls),
                                             .room = &room},
                                 .connections_max = options.connections_max,
                                 .waiting_max = options.waiting_max,
                                 .connect_timeout = options.connect_timeout,
                                 .retry_first = options.retry_first,
                                 .retry_most = options.retry_most};
  pool = std::make_unique<connection_pool>(loop, *names, addresses_of(*given), connections, meter);
  if (options.replicas.empty()) return {};
  const auto to_read = read_server_url(options.replicas);
  if (!to_read) {
    log::error("store.mysql.engine.replicas: " + to_read.error());
    return fail(errc::invalid_argument);
  }
  readers = std::make_unique<replicas>(loop, *names, addresses_of(*to_read), connections, meter);
  return {};
}

task<result<void>> engine::state::wait_for_server() {
  const time_point until = loop.now() + options.start_timeout;
  for (bool has_told = false;; has_told = true) {
    const auto read = co_await with_deadline(deadline::at(until), refresh());
    if (read) co_return {};
    if ((co_await this_task::environment()).stop.stop_requested()) co_return fail(errc::cancelled);
    const std::string& why = told.empty() ? pool->last_failure() : told;
    if (!has_told) log::warning("the server of the rows is waited for: " + why);
    is_missed = true;
    if (loop.now() + retry_after >= until) break;
    if (const auto slept = co_await sleep_for(loop, retry_after); !slept)
      co_return fail(slept.error());
  }
  log::error("there are no rows yet: " + (told.empty() ? pool->last_failure() : told));
  co_return {};
}

/// Looks at the schema now and then, and between that, whether the server is there.
task<void> engine::state::follow() {
  time_point refreshed = loop.now();
  for (;;) {
    const duration pause = looks == 0 ? retry_after : std::min(look_after, options.schema_refresh);
    if (const auto slept = co_await sleep_for(loop, pause); !slept) co_return;
    if (looks != 0 && loop.now() - refreshed < options.schema_refresh) {
      static_cast<void>(co_await acquire());
      continue;
    }
    // One that fails has said so, and the next may not.
    if (co_await refresh()) refreshed = loop.now();
  }
}

task<result<void>> engine::state::refresh() {
  const std::uint64_t before = looks;
  const auto one = co_await refreshing.lock();
  if (!one) co_return fail(one.error());
  if (looks != before) co_return {};  // somebody has done it meanwhile
  co_return co_await look();
}

task<result<void>> engine::state::look_now() {
  const auto one = co_await refreshing.lock();
  if (!one) co_return fail(one.error());
  co_return co_await look();
}

task<result<void>> engine::state::look() {
  auto server = co_await acquire();
  if (!server) co_return fail(server.error());
  connection& from = **server;
  const counted_use use{from, counts};
  auto found = co_await with_timeout(options.read_time, read_schema(from, options.databases));
  if (!found) {
    if ((co_await this_task::environment()).stop.stop_requested()) co_return fail(errc::cancelled);
    tell(weft::format("the server's tables cannot be read: {}", from.failure_for_log()));
    co_return fail(errc::unavailable);
  }
  ++looks;
  take_over(std::move(*found));
  tell(missing_databases());
  co_return {};
}

/// What is wrong with the server's tables, once.
void engine::state::tell(std::string why) {
  if (!why.empty() && why != told) log::error(why);
  told = std::move(why);
}

/// Of those that are to be served; empty: all are there.
std::string engine::state::missing_databases() const {
  std::string missing;
  for (const std::string& each : options.databases)
    if (!schema->has(each)) missing += (missing.empty() ? "" : ", ") + each;
  if (missing.empty()) return missing;
  return weft::format("the server has no such database, or the user {} may not see it: {}",
                      options.user, missing);
}

void engine::state::take_over(std::vector<catalog::database_definition> found) {
  if (!options.databases.empty())
    std::erase_if(found, [this](const catalog::database_definition& each) {
      return !std::ranges::contains(options.databases, each.name);
    });
  if (is_unchanged(*schema, found)) return;
  schema = catalog_ref{std::make_unique<const catalog>(std::move(found))};
  counts.catalogs.add();
}

void engine::state::note(bool is_there) {
  if (is_there == is_reachable) return;
  is_reachable = is_there;
  counts.reachable.add(is_there ? 1 : -1);
  if (!is_there) log::error("the server of the rows is gone: " + pool->last_failure());
  if (is_there && is_missed) log::info("the server of the rows is there");
  is_missed = !is_there;
}

task<result<connection_pool::lease>> engine::state::acquire() {
  auto lease = co_await pool->acquire();
  if (lease) {
    note(true);
    co_return lease;
  }
  const environment& env = co_await this_task::environment();
  if (env.stop.stop_requested()) co_return fail(errc::cancelled);
  if (env.until.passed(loop.now())) co_return fail(errc::timed_out);
  if (lease.error() == errc::limit_exceeded) co_return lease;
  note(false);
  co_return fail(errc::unavailable);
}

task<result<void>> engine::state::write(write_run& batch) {
  for (bool is_second = false;; is_second = true) {
    auto server = co_await acquire();
    if (!server) co_return fail(server.error());
    connection& by = **server;
    const counted_use use{by, counts};
    const auto run = co_await batch.run(by);
    if (run || run.error() != errc::unavailable || by.is_open() || is_second) co_return run;
    counts.writes_retried.add();
  }
}

bool engine::state::are_allowed(std::span<const key_write> operations) {
  const bool is_alone = operations.size() == 1;  // and needs no transaction
  return std::ranges::all_of(operations, [is_alone](const key_write& each) {
    return (is_alone || each.to->definition().has_transactions) && number_fault(each).empty();
  });
}

bool engine::state::are_meant(std::span<const key_write> operations, write_sink& to) {
  std::string fault;
  const auto wrong = std::ranges::find_if(operations, [&fault](const key_write& each) {
    fault = number_fault(each);
    return !fault.empty();
  });
  if (wrong == operations.end()) return true;
  const auto at = static_cast<std::size_t>(wrong - operations.begin());
  const std::string others = weft::format("not done, since operation {} of the batch failed", at);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto why = i == at ? failure_kind::constraint : failure_kind::rolled_back;
    counts.failed(why);
    to.failed(i, {.kind = why, .message = i == at ? fault : others});
  }
  return false;
}

}  // namespace weft::store::mysql
