// What an engine has: its connections, the schema, and whether the server is there.
//
// Contract: internal to the engine; engine.hpp says what the whole does. acquire() tells failures
// of the server from those of who asks: errc::unavailable is the server's, and the log has said
// why, once.
#pragma once

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

namespace weft::store::mysql {

class scan_run;
class write_run;

inline constexpr std::string_view schema_has_changed =
    "the table has changed since the request was made: make it anew";

struct engine::state {
  state(engine_options from_config, event_loop& on, lifetime& owner, telemetry::meter& its_meter);

  [[nodiscard]] result<void> make_pool(std::string password);
  /// Until the server is there, or has not been for start_timeout.
  [[nodiscard]] task<result<void>> wait_for_server();
  [[nodiscard]] task<void> follow();
  [[nodiscard]] task<result<void>> refresh();
  [[nodiscard]] task<result<connection_pool::lease>> acquire();
  [[nodiscard]] task<result<void>> look_up(key_lookup& batch);
  [[nodiscard]] task<result<void>> write(write_run& batch);
  /// The next part; what the server says of it, if anything, of which the sink was told, but for
  /// failure_kind::schema_changed.
  [[nodiscard]] task<result<std::optional<failure_kind>>> scan_on(scan_run& run, scan_sink& to);
  /// Where a query in SQL has its turn.
  [[nodiscard]] task<result<bool>> run_query(const query_request& request, query_sink& to);

  void take_over(std::vector<catalog::database_definition> found);
  void note(bool is_there);
  void tell(std::string why);
  [[nodiscard]] std::string missing_databases() const;
  /// The table of today's catalog that is the same; nullptr: there is none.
  [[nodiscard]] const table* current(const table& named) const noexcept;
  /// False: a table has changed, and `to` has been told of all.
  [[nodiscard]] bool are_current(std::span<const key_write> operations, write_sink& to) const;

  engine_options options;
  event_loop& loop;
  lifetime& own;
  telemetry::meter& meter;
  engine_counts counts;
  std::optional<net::resolver> names;
  std::unique_ptr<connection_pool> pool;
  catalog_ref schema{std::make_unique<const catalog>(std::vector<catalog::database_definition>{})};
  /// All that the server has: queries in SQL are kept from those that are not theirs.
  std::vector<std::string> all_databases;
  mutex refreshing;
  std::uint64_t looks = 0;  // at the schema
  std::string told;         // of the schema, to the log, last
  bool is_reachable = false;
  bool is_missed = false;  // the log has said so
  semaphore queries;
  std::size_t queries_waiting = 0;
};

}  // namespace weft::store::mysql
