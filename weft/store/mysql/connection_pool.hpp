// The connections that one shard has to a server, or to one of several that have the same rows, and
// who waits for one.
//
// Problem: a connection serves one call at a time and is dear to make, and a server bears only so
// many. Contract: there are connections_max at most; who finds none free waits in line, first come,
// first served, obeying stop requests and deadlines, and where waiting_max wait already is refused.
// A lease gives its connection back when it ends, to be kept if it is still open; the one used last
// is used next. One that lay idle for look_after and that its server has ended meanwhile is
// dropped: by one system call, and before anything is sent that nobody would know the fate of. One
// that lay idle for check_after, or since another was lost, is asked whether it is still there, and
// after idle_max it is closed. They are made one at a time, by those who wait: where the server is
// not to be had, one has tried, and as long as there is no connection all others are told at once
// why it failed, until the pause is over (retry_pace.hpp). Of several servers one is used at a time
// (server_choice.hpp): where it cannot be connected to, does not answer in time, or says that it
// serves nobody, all connections to it are given up (those that are leased when they come back, and
// no longer counted) and the next is tried. So it is where one has refused a write since it only
// reads, though not again within retry_most: all may do so. Of one shard; outlives leases and
// waiters. Giving a connection from one lease to the next allocates nothing.
//
//   auto server = co_await pool.acquire();
//   if (!server) co_return fail(server.error());     // pool.last_failure() says more
//   co_await (*server)->run("DO 1");
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/timer.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/net/resolver.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/server_address.hpp>
#include <weft/store/mysql/server_choice.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::store::mysql {

struct pool_options {
  connection_options account{};
  std::size_t connections_max = 8;
  std::size_t waiting_max = 1024;
  /// For each address of a server, and for it to say that it is still there.
  duration connect_timeout = std::chrono::seconds{5};
  /// How long one lies idle before its end is looked for here, and before the server is asked.
  duration look_after = std::chrono::milliseconds{10};
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
        : pool_{std::exchange(other.pool_, nullptr)},
          leased_{std::move(other.leased_)},
          epoch_{other.epoch_} {}
    lease& operator=(lease&&) = delete;
    ~lease() {
      if (pool_ != nullptr) pool_->take_back(std::move(leased_), epoch_);
    }
    connection& operator*() const noexcept { return *leased_; }
    connection* operator->() const noexcept { return leased_.get(); }
    /// Whether its server is still the one in use.
    [[nodiscard]] bool is_current() const noexcept { return epoch_ == pool_->epoch_; }

   private:
    friend class connection_pool;
    lease(connection_pool& pool, std::unique_ptr<connection> leased, std::uint64_t epoch) noexcept
        : pool_{&pool}, leased_{std::move(leased)}, epoch_{epoch} {}
    connection_pool* pool_;
    std::unique_ptr<connection> leased_;
    std::uint64_t epoch_;
  };

  /// `loop` and `names` outlive it. `servers`: one at least, the preferred one first. It counts in
  /// `meter`: docs/store.md.
  connection_pool(event_loop& loop, net::resolver& names, std::vector<server_address> servers,
                  const pool_options& options, telemetry::meter& meter);
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;
  ~connection_pool();

  /// errc::limit_exceeded: too many wait already. errc::cancelled, errc::timed_out: as all waits.
  /// Others: the server is not to be had, as connection::open() or the resolver has said.
  [[nodiscard]] task<result<lease>> acquire();

  /// By which connections are made from now on. Those that there are stay.
  void set_password(std::string_view password) { options_.account.password = password; }

  /// The server of `of`, where it is still the one in use, is so no longer: a call on `of` has
  /// failed as `why`.
  void give_up(const lease& of, error why);

  /// The one in use, for people.
  [[nodiscard]] const std::string& server() const noexcept { return servers_.at(0).text(); }
  /// Why no connection could be made the last time, for people.
  [[nodiscard]] const std::string& last_failure() const noexcept { return failure_text_; }

 private:
  struct idle_connection {
    std::unique_ptr<connection> kept;
    time_point since;
    std::uint64_t epoch = 0;
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
    telemetry::counter given_up;
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
  task<result<lease>> dial();
  /// Those that may be tried, until one is connected to.
  task<result<std::unique_ptr<connection>>> try_servers();
  task<result<std::unique_ptr<connection>>> try_addresses(const server_address& of);
  /// The server that is in use serves no more, as `by` has seen.
  void lose_server(error why, const connection& by);
  /// Nothing that goes to it is kept.
  void give_up_server() noexcept;
  /// Since it only reads, and another may write.
  [[nodiscard]] bool is_to_be_left(connection& by) noexcept;
  void take_back(std::unique_ptr<connection> returned, std::uint64_t epoch) noexcept;
  void keep(idle_connection returned) noexcept;
  void drop(std::unique_ptr<connection> lost, std::uint64_t epoch) noexcept;
  static void on_time(timer& self) noexcept;
  static constexpr timer_kind idle_kind{.on_expiry = &on_time,
                                        .name = "idle connections to a server"};

  event_loop& loop_;
  net::resolver& names_;
  pool_options options_;
  counts counts_;
  server_choice servers_;
  std::uint64_t epoch_ = 0;   // of connections that are good: one more for each server given up
  time_point stays_until_{};  // with a server, though it only reads
  wait_line line_;
  std::size_t waiting_ = 0;
  std::size_t taken_ = 0;  // connections there are, and the one that is being made
  std::size_t past_ = 0;   // those in use that go to a server that was given up
  bool is_dialling_ = false;
  std::vector<idle_connection> idle_;  // the one used last at the end
  error failure_{errc::unavailable};   // of the last attempt
  std::string failure_text_;
  unsigned refusal_ = 0;  // the server's own number for it
};

}  // namespace weft::store::mysql
