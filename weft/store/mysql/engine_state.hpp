// What an engine has: its connections, the schema, and whether the server is there.
//
// Contract: internal to the engine; engine.hpp says what the whole does. acquire() tells failures
// of the server from those of who asks: errc::unavailable is the server's, and the log has said
// why, once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/coro/mutex.hpp>
#include <weft/coro/semaphore.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/resolver.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/store/mysql/connection_pool.hpp>
#include <weft/store/mysql/engine.hpp>
#include <weft/store/mysql/engine_counts.hpp>
#include <weft/store/mysql/key_lookup.hpp>
#include <weft/store/mysql/replicas.hpp>
#include <weft/store/schema_looks.hpp>

namespace weft::store::mysql {

struct query_text;
class scan_run;
class write_run;

/// Where a read is asked that may be asked anew.
struct read_attempts {
  bool was_lost = false;     // its connection was, once
  bool is_for_main = false;  // since a replica could not answer it
  std::string lack{};        // what that one has said, if it may be behind
};

struct read_server {
  connection_pool::lease by;
  bool is_replica;
};

/// How much longer than its statement_time a server's word is waited for.
inline constexpr duration answer_time = std::chrono::seconds{1};

/// How long a server has to be asked to end a query, and whether it has, at a time.
inline constexpr duration end_query_within = std::chrono::seconds{5};

/// A query that may still run on the server, since its connection was closed.
struct left_query {
  std::uint64_t connection = 0;  // 0: there is none
  bool is_on_replica = false;
  time_point began{};
};

struct engine::state {
  state(engine_options from_config, event_loop& on, lifetime& owner, telemetry::meter& its_meter);

  [[nodiscard]] result<void> make_pool(std::string password);
  /// Until the server is there, or has not been for start_timeout.
  [[nodiscard]] task<result<void>> wait_for_server();
  [[nodiscard]] task<void> follow();
  [[nodiscard]] task<result<void>> refresh();
  /// Whatever others have seen meanwhile.
  [[nodiscard]] task<result<void>> look_now();
  /// One at a time.
  [[nodiscard]] task<result<void>> look();
  [[nodiscard]] task<result<connection_pool::lease>> acquire();
  /// To one that rows may be read from, which may be behind.
  [[nodiscard]] task<result<read_server>> acquire_to_read(const read_attempts& made);
  /// Leaves to the main server what a replica has failed at as `why`, with `lack` as what it has
  /// said where it may be behind (errc::not_found). False: it is not to be asked anew for that.
  [[nodiscard]] bool leave_to_main(const read_server& asked, const environment& env, error why,
                                   std::string_view lack, read_attempts& made);
  /// The main server has answered what a replica could not.
  void note_lack(const read_attempts& made) {
    if (!made.lack.empty()) readers->has_lacked(made.lack);
  }
  /// Its statements side by side, on a few connections.
  [[nodiscard]] task<result<void>> look_up(key_lookup& batch);
  /// Those that are left, on a connection, and once more on another where that was lost.
  [[nodiscard]] task<result<void>> look_up_by_one(key_lookup& batch);
  [[nodiscard]] task<result<void>> look_up_on(const read_server& from, key_lookup& batch);
  [[nodiscard]] task<result<void>> write(write_run& batch);
  /// The next part; what the server says of it, if anything, of which the sink was told, but for
  /// failure_kind::schema_changed.
  [[nodiscard]] task<result<std::optional<failure_kind>>> scan_on(scan_run& run, scan_sink& to);
  /// errc::not_found: a replica may lack what is asked for.
  [[nodiscard]] task<result<void>> advance(const read_server& from, scan_run& run, scan_sink& to);
  /// Of a part that has failed as `why`, and is not asked for anew.
  [[nodiscard]] result<std::optional<failure_kind>> settle_part(const connection& by, error why,
                                                                scan_sink& to);
  /// Where a query in SQL has its turn. `left`: the server has not ended it by then.
  [[nodiscard]] task<result<bool>> run_query(const query_request& request, query_sink& to,
                                             left_query& left);
  [[nodiscard]] task<result<bool>> run_query_on(const query_request& request,
                                                const query_text& text, query_sink& to,
                                                left_query& left);
  /// Kills it on its server, which does not look whether the client is still there until it has
  /// rows to send. Whether it has ended.
  [[nodiscard]] task<result<bool>> end_on_server(left_query left);
  /// Keeps the turn of a query until its server has ended it, or has not answered for
  /// options.unseen_query_time, or the engine ends.
  void outlast(left_query left);
  void give_up(left_query left);
  [[nodiscard]] task<void> await_end(left_query left);

  void take_over(std::vector<catalog::database_definition> found);
  void note(bool is_there);
  void tell(std::string why);
  [[nodiscard]] std::string missing_databases() const;
  /// Whether nothing that the schema says of the tables and their columns forbids them.
  [[nodiscard]] static bool are_allowed(std::span<const key_write> operations);
  /// False: one has a value that its server would take for another, and `to` has been told of all.
  [[nodiscard]] bool are_meant(std::span<const key_write> operations, write_sink& to);

  engine_options options;
  event_loop& loop;
  lifetime& own;
  telemetry::meter& meter;
  engine_counts counts;
  std::optional<net::resolver> names;
  statement_room room;
  std::unique_ptr<connection_pool> pool;
  std::unique_ptr<replicas> readers;  // nullptr: there are none
  catalog_ref schema{std::make_unique<const catalog>(std::vector<catalog::database_definition>{})};
  mutex refreshing;
  std::uint64_t looks = 0;  // at the schema
  schema_looks misses;
  std::string told;  // of the schema, to the log, last
  bool is_reachable = false;
  bool is_missed = false;  // the log has said so
  semaphore queries;
  std::size_t queries_waiting = 0;
};

}  // namespace weft::store::mysql
