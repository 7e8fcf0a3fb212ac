// How an engine ends queries in SQL that nobody waits for any more.
//
// Problem: to close the connection does not end its query, and KILL asks for its end alone: a
// server looks at that between two calls of functions, and one call may take hours (LOCATE() of
// megabytes). Contract: a query keeps its turn until its server has it no more, so that no more
// than engine_options::queries_max of a shard run there, whoever still waits for them. A server
// that has restarted has it no more. If no server answers for engine_options::unseen_query_time,
// the turn is given back: meanwhile no other query could run there either. If the network has
// failed, and not the server, the query may then still run beside as many others; the log says so.

#include <chrono>
#include <cstdint>

#include <mariadb/mysqld_error.h>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/engine_state.hpp>

namespace weft::store::mysql {
namespace {

/// Pauses before it is looked again whether a query that was killed has ended: doubled from the
/// first as long as a call waits for that, and then the last.
constexpr duration first_pause = std::chrono::milliseconds{1};
constexpr duration last_pause = std::chrono::milliseconds{100};
constexpr duration pause_of_nobody = std::chrono::seconds{1};

enum class query_state : std::uint8_t { runs, is_killed, has_ended };

/// Behind one address there may be several servers, whose connections have numbers of their own.
/// The server counts whole seconds, from a little later on.
task<result<query_state>> look_at(connection& by, left_query left, duration since) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since).count();
  auto look = co_await by.prepare(
      weft::format("SELECT command = 'Killed' FROM information_schema.processlist WHERE id = {} "
                   "AND command IN ('Execute', 'Killed') AND time >= {}",
                   left.connection, seconds - 2));
  if (!look) co_return fail(look.error());
  if (const auto ran = co_await by.execute(*look, {}); !ran) co_return fail(ran.error());
  if (!look->next()) co_return query_state::has_ended;
  co_return look->row().front().as_integer() == 0 ? query_state::runs : query_state::is_killed;
}

}  // namespace

task<result<bool>> engine::state::end_on_server(left_query left) {
  auto server = co_await acquire_to_read({.is_for_main = !left.is_on_replica});
  if (!server) co_return fail(server.error());
  if (server->is_replica != left.is_on_replica) co_return true;  // which is given up
  connection& by = *server->by;
  for (duration pause = first_pause; pause < last_pause; pause *= 2) {
    const auto found = co_await look_at(by, left, loop.now() - left.began);
    if (!found) co_return fail(found.error());
    if (*found == query_state::has_ended) co_return true;
    if (*found == query_state::runs) {
      const auto killed = co_await by.run(weft::format("KILL {}", left.connection));
      if (!killed && by.server_error() != ER_NO_SUCH_THREAD) co_return fail(killed.error());
      counts.queries_killed.add();
    }
    if (const auto waited = co_await sleep_for(loop, pause); !waited)
      co_return fail(waited.error());
  }
  co_return false;
}

void engine::state::outlast(left_query left) {
  log::warning(
      weft::format("a query that nobody waits for any more runs on the database server, as its "
                   "connection {}: the server has not ended it, though it may have been told to "
                   "(KILL). It counts as one of store.mysql.engine.queries_max until it ends",
                   left.connection));
  counts.queries_left.add(1);
  own.spawn(await_end(left));
}

void engine::state::give_up(left_query left) {
  log::warning(weft::format(
      "a query that nobody waits for any more is given up: no database server has said for {:.0f} "
      "s "
      "whether it still runs, as connection {}. It no longer counts as one of "
      "store.mysql.engine.queries_max",
      std::chrono::duration<double>{options.unseen_query_time}.count(), left.connection));
  counts.queries_given_up.add();
}

task<void> engine::state::await_end(left_query left) {
  time_point seen = loop.now();
  while (co_await sleep_for(loop, pause_of_nobody)) {
    const auto ended = co_await with_timeout(end_query_within, end_on_server(left));
    if (ended.value_or(false)) break;
    if (ended) seen = loop.now();
    if (loop.now() - seen < options.unseen_query_time) continue;
    give_up(left);
    break;
  }
  counts.queries_left.add(-1);
  queries.release();
}

}  // namespace weft::store::mysql
