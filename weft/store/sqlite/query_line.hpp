// Who may query, and who waits: of one shard.
//
// Problem: a query may take seconds, and a processor or a thread of those that look-ups wait for.
// Contract: options.queries_max are made at a time, options.queries_waiting_max wait for that, for
// options.query_wait each, and each has options.query_time. They run in processes of their own
// (query_processes.hpp) where options.query_program names what for, and the loop is no simulated
// one; else on threads that may wait for the disk. The options and what is counted in outlive it.
//
//   query_line queries{options, loop, counts};
//   co_return co_await queries.run(storage, request, sink);
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <weft/coro/semaphore.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/query.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/engine_options.hpp>
#include <weft/store/sqlite/query_processes.hpp>
#include <weft/store/sqlite/query_run.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {

class query_line {
 public:
  query_line(const engine_options& options, event_loop& loop, engine_counts& counts) noexcept
      : options_{options},
        loop_{loop},
        counts_{counts},
        free_{options.queries_max},
        processes_{options, loop, counts} {}
  query_line(const query_line&) = delete;
  query_line& operator=(const query_line&) = delete;
  ~query_line() = default;

  /// As query_engine::query(), of a database that there is.
  [[nodiscard]] borrowing_task<result<bool>> run(storage& from,
                                                 const query_request& request WEFT_LIFETIME_BOUND,
                                                 query_sink& to);
  /// From now on queries fail, as failure_kind::unsupported with this message.
  void refuse_all(std::string why) { refused_ = std::move(why); }
  [[nodiscard]] const std::string& refused() const noexcept { return refused_; }
  /// Ends processes that nobody has used since the last call but one, or that have open what their
  /// database's name no longer stands for.
  [[nodiscard]] task<void> end_idle(storage& from) { return processes_.end_idle(from); }

 private:
  [[nodiscard]] task<result<void>> enter();
  [[nodiscard]] task<result<bool>> run_now(storage& from, const query_request& request,
                                           query_sink& to);
  [[nodiscard]] task<result<bool>> run_on_threads(storage& from, const query_request& request,
                                                  query_bounds bounds, query_sink& to);
  [[nodiscard]] static task<bool> has_no_more(query_run& run);

  const engine_options& options_;
  event_loop& loop_;
  engine_counts& counts_;
  semaphore free_;
  std::size_t waiting_ = 0;
  std::string refused_;  // empty: they are run
  query_processes processes_;
};

}  // namespace weft::store::sqlite
