// Queries in processes of their own: of one shard.
//
// Problem: a thread cannot be stopped within one of SQLite's functions, some of which take minutes;
// a process is gone at once, with its locks. Contract: each query has a process to itself, which is
// killed when the query's time is over, when nobody waits for it any more, or when it keeps the
// database's log from being emptied; run() returns once it is gone. One that has done its work is
// kept for the next query of that database: options.queries_max of them, until end_idle() has found
// it idle twice, or another file in the place of the one that it has open. One that ends by itself
// fails its query, unless it may have ended before: then a new one is asked. What they answer is
// checked (query_message.hpp). Options, loop and counts outlive it.
//
//   co_return co_await processes.run(storage, request, until, sink);
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <weft/store/query.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/engine_options.hpp>
#include <weft/store/sqlite/query_process.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {

class query_processes {
 public:
  query_processes(const engine_options& options, event_loop& loop, engine_counts& counts) noexcept
      : options_{options}, loop_{loop}, counts_{counts} {}
  query_processes(const query_processes&) = delete;
  query_processes& operator=(const query_processes&) = delete;
  ~query_processes() = default;

  /// As query_engine::query(), of a database that there is. errc::timed_out once `until` has come.
  [[nodiscard]] borrowing_task<result<bool>> run(storage& from,
                                                 const query_request& request WEFT_LIFETIME_BOUND,
                                                 time_point until, query_sink& to);
  [[nodiscard]] task<void> end_idle(storage& from);

 private:
  /// Of one query.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  struct worker {
    query_process process;
    std::string database;
    file_identity of;
    unsigned queries = 0;
    bool was_seen_idle = false;
  };
  struct question;

  [[nodiscard]] static std::expected<file_identity, std::string> make_ready(
      storage& from, const std::string& database);
  [[nodiscard]] std::optional<worker> take_idle(const std::string& database,
                                                const file_identity& of);
  [[nodiscard]] task<result<worker>> start(storage& from, std::string database, file_identity of);
  [[nodiscard]] static bool is_in_place(const storage& from, const worker& by);
  [[nodiscard]] task<void> keep(const storage& from, worker done);
  [[nodiscard]] task<result<bool>> ask(worker& by, question& asked);

  const engine_options& options_;
  event_loop& loop_;
  engine_counts& counts_;
  std::vector<worker> idle_;
};

}  // namespace weft::store::sqlite
