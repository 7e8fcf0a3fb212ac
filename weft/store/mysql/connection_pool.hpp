// The connections that one shard has to a server, and who waits for one.
//
// Problem: a connection serves one call at a time and is dear to make, and a server bears only so
// many. Contract: there are connections_max at most; who finds none free waits in line, first come,
// first served, obeying stop requests and deadlines, and where waiting_max wait already is refused.
// A lease gives its connection back when it ends, to be kept if it is still open; the one used last
// is used next. One that lay idle for check_after, or since another was lost, is asked whether it
// is still there, and after idle_max it is closed. They are made one at a time, by those who wait:
// where the server is not to be had, one has tried, and as long as there is no connection all
// others are told at once why it failed, until the pause is over (retry_pace.hpp). Of one shard;
// outlives leases and waiters. Giving a connection from one lease to the next allocates nothing.
//
//   auto server = co_await pool.acquire();
//   if (!server) co_return fail(server.error());     // pool.last_failure() says more
//   co_await (*server)->run("DO 1");
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/timer.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/net/resolver.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/retry_pace.hpp>
#include <weft/store/mysql/server_address.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::store::mysql {

struct pool_options {
  connection_options account{};
  std::size_t connections_max = 8;
  std::size_t waiting_max = 1024;
  /// For each address of the server.
  duration connect_timeout = std::chrono::seconds{5};
  duration check_after = std::chrono::seconds{5};
  duration idle_max = std::chrono::seconds{60};
  /// The first pause after a failure, and the longest.
  duration retry_first = std::chrono::milliseconds{100};
  duration retry_most = std::chrono::seconds{10};
};

class connection_pool : private timer {
 public:
  class lease {
   public:
    lease(lease&& other) noexcept
        : pool_{std::exchange(other.pool_, nullptr)}, leased_{std::move(other.leased_)} {}
    lease& operator=(lease&&) = delete;
    ~lease() {
      if (pool_ != nullptr) pool_->take_back(std::move(leased_));
    }
    connection& operator*() const noexcept { return *leased_; }
    connection* operator->() const noexcept { return leased_.get(); }

   private:
    friend class connection_pool;
    lease(connection_pool& pool, std::unique_ptr<connection> leased) noexcept
        : pool_{&pool}, leased_{std::move(leased)} {}
    connection_pool* pool_;
    std::unique_ptr<connection> leased_;
  };

  /// `loop` and `names` outlive it. It counts in `meter`: docs/store.md.
  connection_pool(event_loop& loop, net::resolver& names, server_address server,
                  const pool_options& options, telemetry::meter& meter);
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;
  ~connection_pool();

  /// errc::limit_exceeded: too many wait already. errc::cancelled, errc::timed_out: as all waits.
  /// Others: the server is not to be had, as connection::open() or the resolver has said.
  [[nodiscard]] task<result<lease>> acquire();

  /// Why no connection could be made the last time, for people.
  [[nodiscard]] const std::string& last_failure() const noexcept { return failure_text_; }

 private:
  struct idle_connection {
    std::unique_ptr<connection> kept;
    time_point since;
    bool is_doubtful = false;  // another was lost since
  };
  /// Awaitable: a connection that lay idle, or, where it is nullptr, the turn to make one.
  class [[nodiscard]] turn_wait final : public waiter {
   public:
    explicit turn_wait(connection_pool& pool) noexcept : pool_{pool} {}
    [[nodiscard]] result<idle_connection> await_resume() noexcept;

   private:
    friend class connection_pool;
    friend waiter;
    wait_line& line() noexcept { return pool_.line_; }
    bool take() noexcept;
    connection_pool& pool_;
    idle_connection given_{};
    time_point since_{};  // when it stood in line
    bool has_waited_ = false;
  };
  struct counts {
    explicit counts(telemetry::meter& meter);
    telemetry::counter opened;
    telemetry::counter failed;
    telemetry::counter lost;
    telemetry::gauge open;
    telemetry::histogram waits;
  };

  /// Whether there was something to give.
  [[nodiscard]] bool give(turn_wait& to) noexcept;
  /// After each change: those who stand first in line get what there is.
  void serve() noexcept;
  /// Whether nothing that is under way could ever bring a connection.
  [[nodiscard]] bool is_hopeless() const noexcept;
  /// Whether it may be used; if not, it is dropped, or put back by who can wait no longer.
  task<result<bool>> check(idle_connection& given);
  task<result<std::unique_ptr<connection>>> dial();
  task<result<std::unique_ptr<connection>>> try_addresses();
  void take_back(std::unique_ptr<connection> returned) noexcept;
  void keep(idle_connection returned) noexcept;
  void drop(std::unique_ptr<connection> lost) noexcept;
  static void on_time(timer& self) noexcept;
  static constexpr timer_kind idle_kind{.on_expiry = &on_time,
                                        .name = "idle connections to a server"};

  event_loop& loop_;
  net::resolver& names_;
  server_address server_;
  pool_options options_;
  counts counts_;
  retry_pace pace_;
  wait_line line_;
  std::size_t waiting_ = 0;
  std::size_t taken_ = 0;  // connections there are, and the one that is being made
  bool is_dialling_ = false;
  std::vector<idle_connection> idle_;  // the one used last at the end
  error failure_{errc::unavailable};   // of the last attempt
  std::string failure_text_;
};

}  // namespace weft::store::mysql
