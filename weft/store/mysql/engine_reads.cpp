// How an engine reads: of a replica, where there is one, and else of the main server; once more
// where a connection was lost on the way, and of the main server what a replica has not answered,
// or could not since it may be behind.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <weft/coro/shielded.hpp>
#include <weft/coro/when_all.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/store/mysql/counted_use.hpp>
#include <weft/store/mysql/engine_state.hpp>
#include <weft/store/mysql/query_run.hpp>
#include <weft/store/mysql/query_text.hpp>
#include <weft/store/mysql/scan_run.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/mysql/too_large.hpp>

namespace weft::store::mysql {
namespace {

/// Of a batch: more connections would be taken from others.
constexpr std::size_t statements_at_once = 4;

template <class Sink>
void refuse_too_large(Sink& to, const connection& by, const engine_options& options,
                      engine_counts& counts) {
  counts.failed(failure_kind::too_large);
  const std::string why = too_large(by, options.read_memory_bytes);
  to.failed({.kind = failure_kind::too_large, .message = why});
}

}  // namespace

task<result<read_server>> engine::state::acquire_to_read(const read_attempts& made) {
  if (readers != nullptr && !made.is_for_main) {
    auto given = co_await readers->acquire();
    if (!given) co_return fail(given.error());
    if (*given) co_return read_server{.by = std::move(**given), .is_replica = true};
  }
  auto lease = co_await acquire();
  if (!lease) co_return fail(lease.error());
  co_return read_server{.by = std::move(*lease), .is_replica = false};
}

bool engine::state::leave_to_main(const read_server& asked, const environment& env, error why,
                                  std::string_view lack, read_attempts& made) {
  if (!asked.is_replica || env.stop.stop_requested() || env.until.passed(loop.now())) return false;
  if (why == errc::not_found) made.lack = lack;
  made.is_for_main = why == errc::not_found || why == errc::cancelled;
  return made.is_for_main;
}

task<result<void>> engine::state::look_up(key_lookup& batch) {
  const std::size_t at_once = std::min(batch.statements(), statements_at_once);
  if (at_once <= 1) co_return co_await look_up_by_one(batch);
  std::vector<task<result<void>>> side_by_side;
  side_by_side.reserve(at_once);
  for (std::size_t i = 0; i < at_once; ++i) side_by_side.push_back(look_up_by_one(batch));
  environment together = co_await this_task::environment();
  stop_source given_up{together.stop};
  together.stop = given_up.token();
  batch.stop_if_refused(&given_up);
  const auto all = co_await when_all(std::move(side_by_side)).in(together);
  batch.stop_if_refused(nullptr);
  // What one could not do another may have done.
  if (batch.statements() == 0) co_return {};
  co_return *std::ranges::find_if(all, [](const result<void>& each) { return !each; });
}

task<result<void>> engine::state::look_up_by_one(key_lookup& batch) {
  for (read_attempts made;; counts.reads_retried.add()) {
    auto server = co_await acquire_to_read(made);
    if (!server) co_return fail(server.error());
    if (batch.statements() == 0) co_return {};
    connection& by = *server->by;
    const counted_use use{by, counts};
    const auto run = co_await look_up_on(*server, batch);
    if (run && !batch.is_stale()) note_lack(made);
    if (run) co_return run;
    if (leave_to_main(*server, co_await this_task::environment(), run.error(), batch.lack(), made))
      continue;
    if (run.error() == errc::cancelled || run.error() == errc::timed_out || by.is_open())
      co_return run;
    if (std::exchange(made.was_lost, true)) co_return fail(errc::unavailable);
  }
}

/// A replica is not waited for so long that the main server could not answer in its place.
task<result<void>> engine::state::look_up_on(const read_server& from, key_lookup& batch) {
  const environment& env = co_await this_task::environment();
  while (batch.statements() != 0) {
    const time_point began = loop.now();
    auto next = batch.run_next(*from.by, from.is_replica);
    if (from.is_replica) next = with_deadline(readers->answer_by(env), std::move(next));
    const auto run = co_await std::move(next);
    if (run) continue;
    if (!from.is_replica || run.error() != errc::timed_out || env.until.passed(loop.now()))
      co_return run;
    readers->was_silent(began);
    co_return fail(errc::cancelled);
  }
  co_return {};
}

task<result<std::optional<failure_kind>>> engine::state::scan_on(scan_run& run, scan_sink& to) {
  for (read_attempts made;;) {
    auto server = co_await acquire_to_read(made);
    if (!server) co_return fail(server.error());
    connection& by = *server->by;
    const counted_use use{by, counts};
    const std::size_t rows = run.rows();
    const auto part = co_await advance(*server, run, to);
    if (part) {
      note_lack(made);
      counts.scan_slices.add();
      counts.scan_rows.add(run.rows() - rows);
      co_return std::nullopt;
    }
    if (leave_to_main(*server, co_await this_task::environment(), part.error(),
                      by.failure_for_log(), made))
      continue;
    const bool is_said = part.error() == errc::limit_exceeded || part.error() == errc::exhausted ||
                         part.error() == errc::cancelled || part.error() == errc::timed_out;
    if (by.is_open() || is_said) co_return settle_part(by, part.error(), to);
    if (std::exchange(made.was_lost, true)) co_return fail(errc::unavailable);
  }
}

task<result<void>> engine::state::advance(const read_server& from, scan_run& run, scan_sink& to) {
  connection& by = *from.by;
  auto work = run.advance(by, to);
  if (from.is_replica) work = readers->while_there(std::move(work));
  const auto part = co_await std::move(work);
  if (part) co_return part;
  if (has_waited_in_vain(by.server_error())) by.close();
  const bool is_told = by.is_open() && by.server_error() != 0;
  if (from.is_replica && is_told && may_be_behind(by.last_failure().kind))
    co_return fail(errc::not_found);
  co_return part;
}

result<std::optional<failure_kind>> engine::state::settle_part(const connection& by, error why,
                                                               scan_sink& to) {
  if (why == errc::limit_exceeded) {
    refuse_too_large(to, by, options, counts);
    return failure_kind::too_large;
  }
  if (!by.is_open() || by.server_error() == 0) return fail(why);
  if (is_of_time(by.server_error())) return fail(errc::timed_out);
  const failure told = by.last_failure();
  if (told.kind != failure_kind::schema_changed) {
    counts.failed(told.kind);
    to.failed(told);
  }
  return told.kind;
}

task<result<bool>> engine::state::run_query(const query_request& request, query_sink& to,
                                            left_query& left) {
  const auto text = read_query_text(request, *schema);
  if (!text) {
    counts.failed(failure_kind::invalid);
    to.failed({.kind = failure_kind::invalid,
               .message = text.error().message,
               .of_query = text.error().of});
    co_return false;
  }
  // The server ends it in time, but for what it cannot stop.
  const auto told = co_await with_timeout(options.statement_time + answer_time,
                                          run_query_on(request, *text, to, left));
  if (left.connection == 0) co_return told;
  const auto ended =
      co_await shielded(with_timeout(end_query_within, end_on_server(left)), deadline::never());
  if (ended.value_or(false)) left = {};
  co_return told;
}

task<result<bool>> engine::state::run_query_on(const query_request& request, const query_text& text,
                                               query_sink& to, left_query& left) {
  for (read_attempts made;;) {
    auto server = co_await acquire_to_read(made);
    if (!server) co_return fail(server.error());
    connection& by = *server->by;
    const counted_use use{by, counts};
    query_run run{loop, request, text, server->is_replica};
    const left_query if_closed{
        .connection = by.id(), .is_on_replica = server->is_replica, .began = loop.now()};
    auto work = run.run(by, to);
    if (server->is_replica) work = readers->while_there(std::move(work));
    const auto told = co_await std::move(work);
    const bool is_ours = told || told.error() == errc::cancelled ||
                         told.error() == errc::timed_out || told.error() == errc::exhausted;
    left = !by.is_open() && is_ours ? if_closed : left_query{};
    counts.query_rows.add(run.rows());
    if (told && run.has_told()) note_lack(made);
    if (!told && !run.has_told() &&
        leave_to_main(*server, co_await this_task::environment(), told.error(),
                      by.failure_for_log(), made))
      continue;
    if (run.fault()) counts.failed(*run.fault());
    if (!told && told.error() == errc::limit_exceeded) {
      refuse_too_large(to, by, options, counts);
      co_return false;
    }
    if (is_ours || by.is_open()) co_return told;
    if (std::exchange(made.was_lost, true) || run.has_told()) co_return fail(errc::unavailable);
  }
}

}  // namespace weft::store::mysql
