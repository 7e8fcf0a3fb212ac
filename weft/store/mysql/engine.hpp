// The engine of rows that lie on a server which speaks MySQL's protocol.
//
// Problem: a server is a network away, may be slow, and may go. Contract: a service, one a shard,
// of <weft/store/engine.hpp>, with a pool of connections of its own. A batch of look-ups takes one
// round trip for each table and list of columns in it, a few of them at once, and a second one
// where texts in keys are spelled in another way than the table has them; it is made anew, once,
// where its connection was lost. A batch of writes is one transaction, and never written twice: it
// is made anew, once, where its connection was lost before the commit (write_run.hpp). start()
// waits for the server, for start_timeout at most, and reads its tables. As long as the server is
// not there, calls fail as errc::unavailable, is_reachable() says so, and it is tried again. Before
// it was there for the first time, the schema is empty. "Durable" is what the server takes it to
// be.
//
//   app.add<store::mysql::engine>({.server = "mysql://shop@db.example/shop"})
//       .as<store::engine, store::query_engine>();
#pragma once

#include <memory>
#include <span>
#include <string>

#include <weft/loop/event_loop.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/mysql/engine_options.hpp>
#include <weft/store/query.hpp>

namespace weft::telemetry {
class meter;
}

namespace weft::store::mysql {

class engine final : public store::engine, public store::query_engine {
 public:
  using options = engine_options;

  /// `meter`: of the shard; engine_counts.hpp says what is counted.
  engine(engine_options options, event_loop& loop, lifetime& own, telemetry::meter& meter);
  ~engine() override;

  /// errc::invalid_argument: the options name no server, or a password file that cannot be read.
  /// The log says more.
  [[nodiscard]] task<result<void>> start();
  /// Reads the password file again, at once: connections are made by what it says from now on. If
  /// it cannot be read (errc::invalid_argument; the log says why) all stays as it was.
  [[nodiscard]] result<void> reload();

  [[nodiscard]] const catalog_ref& schema() const noexcept override;
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

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft::store::mysql
