// Servers that follow the main one, and may be read from in its place.
//
// Problem: reads are most of what is asked for, and one server answers them all. Contract: as long
// as one of them is there, acquire() gives connections to it; else nothing, and the main server is
// to be asked. follow() asks it each second whether it is there, by a connection of its own, and
// finds out when one comes back; who asks meanwhile does not wait for that. One that has not
// answered for answer_patience is given up. A read that takes long on one that is well says nothing
// of it: a look-up goes to the main server once answer_by() has passed, and a scan or a query waits
// in while_there(), which ends when the replica does. What they tell may be as old as their
// replication is behind. Each shard begins with another one of the list, and stays with it until it
// fails (server_choice.hpp). Of one shard; outlives its leases.
//
//   auto given = co_await replicas.acquire();
//   if (given && *given) co_return co_await replicas.while_there(ask(***given));
//   co_return co_await ask_main_server();
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/coro/deadline.hpp>
#include <weft/coro/environment.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/store/mysql/connection_pool.hpp>

namespace weft::store::mysql {

class replicas {
 public:
  /// A server that is well says that it is there, and finds a row by its key, within milliseconds,
  /// so that a second is silence, and a tenth of what a batch of look-ups has (read_time).
  static constexpr duration answer_patience = std::chrono::seconds{1};

  /// As for a connection_pool.
  replicas(event_loop& loop, net::resolver& names, std::vector<server_address> servers,
           pool_options options, telemetry::meter& meter);
  replicas(const replicas&) = delete;
  replicas& operator=(const replicas&) = delete;
  ~replicas();

  /// errc::cancelled, errc::timed_out: as all waits. errc::limit_exceeded: too many wait already.
  /// Nothing, too, where there is none by answer_by().
  [[nodiscard]] task<result<std::optional<connection_pool::lease>>> acquire();
  /// As of a connection_pool.
  void set_password(std::string_view password) { pool_.set_password(password); }
  /// Until it is asked to stop.
  [[nodiscard]] task<void> follow();

  /// By when one that is asked now has to answer: half of the time that is left is the main
  /// server's, and all but answer_patience.
  [[nodiscard]] deadline answer_by(const environment& of) const noexcept;
  /// A look-up since then was not answered. After answer_patience none is given one until follow()
  /// has asked.
  void was_silent(time_point since) noexcept;
  /// `work` on one of acquire(), as errc::cancelled where it is given up meanwhile.
  template <class T>
  [[nodiscard]] task<T> while_there(task<T> work);
  /// One could not say `why`, and the main server could. The log is told once in a while.
  void has_lacked(std::string_view why);

 private:
  void note(bool is_there);
  /// Whether one is there, by the connection that follow() has; nothing: nobody knows.
  [[nodiscard]] task<std::optional<bool>> look(std::optional<connection_pool::lease>& by);
  /// Whoever waits for it is to ask the main server.
  void give_up(const connection_pool::lease& silent, error why);

  event_loop& loop_;
  statement_room room_;
  connection_pool pool_;
  telemetry::gauge reachable_;
  telemetry::counter asked_;
  std::optional<bool> is_there_;  // nothing: nobody has looked yet
  bool is_in_doubt_ = false;      // until follow() has looked
  std::optional<stop_source> given_up_{std::in_place};
  time_point tells_of_lack_{};  // again from then on
};

template <class T>
task<T> replicas::while_there(task<T> work) {
  environment watched = co_await this_task::environment();
  stop_source either{watched.stop};
  const stop_callback on_end{given_up_->token(), [&either]() noexcept { either.request_stop(); }};
  watched.stop = either.token();
  co_return co_await std::move(work).in(watched);
}

}  // namespace weft::store::mysql
