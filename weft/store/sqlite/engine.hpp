// The embedded engine: SQLite databases in a folder, read on the shard.
//
// Problem: SQLite blocks its caller, and takes three times as long for a transaction as for a
// look-up. Contract: a service, one a shard, of <weft/store/engine.hpp>. What is in memory is read
// at once, on the shard, all reads of a turn in one transaction; what is not, on the loop's threads
// for blocking(), and handed back. A shard is kept by one call for no longer than its operations
// take, half a microsecond to two each: bound the batch. start() opens what the folder has;
// databases that come, go or are replaced are noticed later (engine_options::schema_refresh). A
// database that cannot be opened is named in the log and left out.
// Writes of all shards go to one thread a database (writer.hpp), and come back when they are
// durable.
//
//   app.add<store::sqlite::engine>({.directory = "/var/lib/shop"})
//       .as<store::engine, store::query_engine>();
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include <weft/loop/event_loop.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/file_swap.hpp>
#include <weft/store/query.hpp>
#include <weft/store/sqlite/engine_options.hpp>

namespace weft::telemetry {
class meter;
}

namespace weft::store::sqlite {

class engine final : public store::engine, public store::query_engine, public store::file_swapper {
 public:
  using options = engine_options;

  /// `meter`: of the shard; engine_counts.hpp says what is counted.
  engine(engine_options options, event_loop& loop, lifetime& own, telemetry::meter& meter);
  ~engine() override;

  /// errc::not_found: no such folder, or one that cannot be read; errc::system: what was to be
  /// created was not. The log says more.
  [[nodiscard]] task<result<void>> start();

  [[nodiscard]] const catalog_ref& schema() const noexcept override;
  /// Not while a database is refused that should be served: the log says why.
  [[nodiscard]] bool is_reachable() const noexcept override;
  [[nodiscard]] task<result<void>> refresh() override;
  [[nodiscard]] task<result<void>> after_miss() override;
  [[nodiscard]] borrowing_task<result<void>> read(
      std::span<const key_read> operations WEFT_LIFETIME_BOUND, read_sink& to) override;
  [[nodiscard]] borrowing_task<result<void>> write(
      std::span<const key_write> operations WEFT_LIFETIME_BOUND, write_sink& to) override;
  [[nodiscard]] borrowing_task<result<std::string>> scan(
      const scan_request& request WEFT_LIFETIME_BOUND, scan_sink& to) override;
  [[nodiscard]] borrowing_task<result<bool>> query(const query_request& request WEFT_LIFETIME_BOUND,
                                                   query_sink& to) override;

  [[nodiscard]] std::string folder() const override;
  [[nodiscard]] borrowing_task<std::expected<file_swap, std::string>> swap(
      const swap_request& request WEFT_LIFETIME_BOUND) override;

  /// Batches of writes, of all shards, that wait for the one under way to be durable.
  [[nodiscard]] std::size_t writes_waiting() const;
  /// Transactions of writes that have become durable, of all shards.
  [[nodiscard]] std::uint64_t commits() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft::store::sqlite
