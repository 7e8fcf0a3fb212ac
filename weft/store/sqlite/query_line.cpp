#include <weft/store/sqlite/query_line.hpp>

#include <algorithm>

#include <weft/coro/stop_token.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/turn_share.hpp>

namespace weft::store::sqlite {
namespace {

/// How long a query waits for its memory.
constexpr duration memory_wait = std::chrono::seconds{1};

task<result<void>> acquire_one(semaphore& of) { co_return co_await of.acquire(); }

}  // namespace

task<result<void>> query_line::enter() {
  if (free_.try_acquire()) co_return {};
  if (waiting_ >= options_.queries_waiting_max) co_return fail(errc::limit_exceeded);
  ++waiting_;
  const auto permit = co_await with_timeout(options_.query_wait, acquire_one(free_));
  --waiting_;
  // It was not made, and may be later: whoever's time it was that is over.
  if (!permit && permit.error() == errc::timed_out) co_return fail(errc::limit_exceeded);
  co_return permit;
}

borrowing_task<result<bool>> query_line::run(storage& from, const query_request& request,
                                             query_sink& to) {
  if (!refused_.empty()) {
    counts_.failed(failure_kind::unsupported);
    to.failed({.kind = failure_kind::unsupported, .message = refused_});
    co_return false;
  }
  if (const auto entered = co_await enter(); !entered) co_return fail(entered.error());
  struct giving_back {
    semaphore& to;
    ~giving_back() { to.release(); }
  } const permit{free_};
  const time_point began = loop_.now();
  counts_.queries.add();
  const result<bool> told = co_await run_now(from, request, to);
  counts_.query_times.record(loop_.now() - began);
  co_return told;
}

task<result<bool>> query_line::run_now(storage& from, const query_request& request,
                                       query_sink& to) {
  const environment& env = co_await this_task::environment();
  const time_point until = loop_.has_threads()
                               ? std::min(env.until.when(), loop_.now() + options_.query_time)
                               : time_point::max();
  const std::uint64_t memory_bytes =
      within_budget(options_.query_memory_bytes, loop_.memory().budget().limit());
  const auto memory = co_await with_timeout(
      memory_wait,
      reserve_memory(loop_.memory(), memory_kind::queries, memory_bytes, memory_priority::normal));
  if (!memory)
    co_return fail(memory.error() == errc::cancelled ? memory.error() : errc::limit_exceeded);
  if (loop_.has_threads() && !options_.query_program.empty())
    co_return co_await processes_.run(from, request, until, to);
  co_return co_await run_on_threads(from, request, {until, memory_bytes}, to);
}

task<result<bool>> query_line::run_on_threads(storage& from, const query_request& request,
                                              query_bounds bounds, query_sink& to) {
  const environment& env = co_await this_task::environment();
  query_run run{from, request, bounds};
  const stop_callback on_stop{env.stop, [&run] { run.stop(); }};
  for (;;) {
    const auto waited = co_await blocking([&run] { run.advance(); });
    if (!waited) co_return fail(waited.error());
    if (env.stop.stop_requested()) co_return fail(errc::cancelled);
    if (run.is_late()) co_return fail(errc::timed_out);
    if (!run.fault().message.empty()) {
      if (run.fault().kind == failure_kind::input_output && !from.has_file(request.database))
        co_return fail(errc::not_found);
      counts_.failed(run.fault().kind);
      to.failed(run.fault());
      co_return false;
    }
    counts_.query_rows.add(run.rows());
    for (;;) {
      if (!run.tell(to)) co_return co_await has_no_more(run);
      if (run.has_told_all()) break;
      co_await next_turn(loop_);
    }
    if (run.is_over()) co_return !run.is_cut();
  }
}

/// Of one whose sink has enough: whether that was all. Ends it on a thread that may wait; where
/// none is free for that, it ends here.
task<bool> query_line::has_no_more(query_run& run) {
  if (run.has_told_all() && run.is_over()) co_return !run.is_cut();
  const bool may_be_all = run.has_told_all();
  const auto waited = co_await blocking([&run, may_be_all] {
    if (may_be_all) run.advance();
    run.end();
  });
  co_return waited&& may_be_all&& run.is_over() && run.rows() == 0 && !run.is_cut() &&
      !run.is_late() && run.fault().message.empty();
}

}  // namespace weft::store::sqlite
