#include <weft/store/mysql/engine_state.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/query_run.hpp>
#include <weft/store/mysql/query_text.hpp>
#include <weft/store/mysql/scan_run.hpp>
#include <weft/store/mysql/schema_reader.hpp>
#include <weft/store/mysql/server_errors.hpp>
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

}  // namespace

engine::state::state(engine_options from_config, event_loop& on, lifetime& owner,
                     telemetry::meter& its_meter)
    : options{std::move(from_config)},
      loop{on},
      own{owner},
      meter{its_meter},
      counts{its_meter},
      queries{options.queries_max} {}

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
                                             .statements_max = options.statements_max},
                                 .connections_max = options.connections_max,
                                 .waiting_max = options.waiting_max,
                                 .connect_timeout = options.connect_timeout,
                                 .retry_first = options.retry_first,
                                 .retry_most = options.retry_most};
  pool = std::make_unique<connection_pool>(loop, *names, *server_address::parse(given->address),
                                           connections, meter);
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
  auto server = co_await acquire();
  if (!server) co_return fail(server.error());
  connection& from = **server;
  const std::uint64_t trips = from.round_trips();
  auto found = co_await with_timeout(options.read_time, read_schema(from));
  counts.round_trips.add(from.round_trips() - trips);
  if (!found) {
    if ((co_await this_task::environment()).stop.stop_requested()) co_return fail(errc::cancelled);
    tell(weft::format("the server's tables cannot be read: {}", from.last_failure().message));
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
  all_databases = {"information_schema", "mysql", "performance_schema", "sys", "ndbinfo"};
  for (const catalog::database_definition& each : found) all_databases.push_back(each.name);
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

task<result<void>> engine::state::look_up(key_lookup& batch) {
  for (bool is_second = false;; is_second = true) {
    auto server = co_await acquire();
    if (!server) co_return fail(server.error());
    connection& by = **server;
    const std::uint64_t trips = by.round_trips();
    const auto run = co_await batch.run(by);
    counts.round_trips.add(by.round_trips() - trips);
    if (run || run.error() == errc::cancelled || run.error() == errc::timed_out || by.is_open())
      co_return run;
    if (is_second) co_return fail(errc::unavailable);
    counts.reads_retried.add();
  }
}

task<result<void>> engine::state::write(write_run& batch) {
  auto server = co_await acquire();
  if (!server) co_return fail(server.error());
  connection& by = **server;
  const std::uint64_t trips = by.round_trips();
  const auto run = co_await batch.run(by);
  counts.round_trips.add(by.round_trips() - trips);
  co_return run;
}

task<result<std::optional<failure_kind>>> engine::state::scan_on(scan_run& run, scan_sink& to) {
  for (bool is_second = false;; is_second = true) {
    auto server = co_await acquire();
    if (!server) co_return fail(server.error());
    connection& by = **server;
    const std::uint64_t trips = by.round_trips();
    const std::size_t rows = run.rows();
    const auto part = co_await run.advance(by, to);
    counts.round_trips.add(by.round_trips() - trips);
    if (part) {
      counts.scan_slices.add();
      counts.scan_rows.add(run.rows() - rows);
      co_return std::nullopt;
    }
    if (by.is_open() && by.server_error() != 0) {
      if (is_of_time(by.server_error())) co_return fail(errc::timed_out);
      const failure why = by.last_failure();
      if (why.kind != failure_kind::schema_changed) {
        counts.failed(why.kind);
        to.failed(why);
      }
      co_return why.kind;
    }
    if (by.is_open() || part.error() == errc::cancelled || part.error() == errc::timed_out)
      co_return fail(part.error());
    if (is_second) co_return fail(errc::unavailable);
  }
}

task<result<bool>> engine::state::run_query(const query_request& request, query_sink& to) {
  std::vector<std::string> others;
  std::ranges::copy_if(all_databases, std::back_inserter(others),
                       [&](const std::string& each) { return each != request.database; });
  const auto text = read_query_text(request, others);
  if (!text) {
    counts.failed(failure_kind::invalid);
    to.failed({.kind = failure_kind::invalid, .message = text.error()});
    co_return false;
  }
  for (bool is_second = false;; is_second = true) {
    auto server = co_await acquire();
    if (!server) co_return fail(server.error());
    connection& by = **server;
    const std::uint64_t trips = by.round_trips();
    query_run run{loop, request, *text};
    const auto told = co_await run.run(by, to);
    counts.round_trips.add(by.round_trips() - trips);
    counts.query_rows.add(run.rows());
    if (run.fault()) counts.failed(*run.fault());
    if (told || told.error() == errc::cancelled || told.error() == errc::timed_out || by.is_open())
      co_return told;
    if (is_second || run.has_told()) co_return fail(errc::unavailable);
  }
}

const table* engine::state::current(const table& named) const noexcept {
  if (&named.owner() == schema.get()) [[likely]]
    return &named;
  const table* const now = schema->find(named.database(), named.name());
  return now != nullptr && now->definition() == named.definition() ? now : nullptr;
}

bool engine::state::are_current(std::span<const key_write> operations, write_sink& to) const {
  const auto changed = std::ranges::find_if(
      operations, [this](const key_write& each) { return current(*each.to) == nullptr; });
  if (changed == operations.end()) return true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool is_same = current(*operations[i].to) != nullptr;
    to.failed(i, {.kind = is_same ? failure_kind::rolled_back : failure_kind::schema_changed,
                  .message = schema_has_changed});
  }
  return false;
}

}  // namespace weft::store::mysql
