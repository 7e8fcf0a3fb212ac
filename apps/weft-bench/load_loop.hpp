// Internal: how a thread of a load runs, with an epoll descriptor of its own: what is due
// (load_loop.cpp), and what happens on connections (load_exchange.cpp).
#pragma once

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <string_view>
#include <vector>

#include "load.hpp"
#include "load_connection.hpp"
#include "pace.hpp"
#include "response_framer.hpp"

namespace weft::bench {

/// Steady time in nanoseconds; std::chrono's clock is the same call.
std::uint64_t steady_ns();

class load_loop final : private reply_listener {
 public:
  // `settled`: counted down when the connections stand, and waited for, so that all threads begin
  // at once.
  load_loop(const load_plan& plan, const std::atomic<bool>& stop, std::latch& settled,
            load_observer* observer)
      : plan_(plan),
        stop_(stop),
        all_settled_(settled),
        observer_(observer),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        pace_(plan.rate) {
    connections_.reserve(static_cast<std::size_t>(plan.connections));
    for (int i = 0; i < plan.connections; ++i) {
      connections_.emplace_back(make_conversation(plan, known_, *this));
      down_.push_back(&connections_.back());
    }
  }
  load_loop(const load_loop&) = delete;
  load_loop& operator=(const load_loop&) = delete;
  ~load_loop() {
    for (const connection& peer : connections_) {
      if (peer.fd >= 0) ::close(peer.fd);
    }
    if (epoll_ >= 0) ::close(epoll_);
  }

  load_result run();

 private:
  // Whether it begins now.
  bool settle(std::uint64_t time);
  void send_due(std::uint64_t time);
  void turn(std::uint64_t time);
  [[nodiscard]] std::uint64_t sleep_ns(std::uint64_t time) const;
  [[nodiscard]] bool is_over(std::uint64_t time) const;
  void tick(std::uint64_t time);
  void begin_window(std::uint64_t time);
  void count_hung(std::uint64_t time);
  void count_unanswered();
  void end_window(std::uint64_t time);
  void expire(std::uint64_t time);

  void open(connection& peer, std::uint64_t time);
  void open_those_down(std::uint64_t time);
  void open_one_down(std::uint64_t time);
  void on_event(connection& peer, std::uint32_t events);
  void on_connected(connection& peer);
  void shake_hands(connection& peer);
  void open_conversation(connection& peer);
  void stand(connection& peer);
  // A connection may have room for further requests: those that are due.
  void go_on(connection& peer, std::uint64_t time);
  void add_idle(connection& peer);
  void add_request(connection& peer, std::uint64_t due, std::uint64_t time);
  void send_rest(connection& peer);
  void send_pieces(connection& peer);
  void encrypt_pieces(connection& peer);
  void send_output(connection& peer);
  void receive(connection& peer, bool to_the_end);
  void decrypt(connection& peer, std::string_view encrypted);
  void on_bytes(connection& peer, std::string_view bytes);
  void on_end(connection& peer);
  // What comes of what was taken.
  void follow(connection& peer, conversation::verdict verdict);
  void on_reply(const owed_reply& reply, int status) override;
  void on_failure(const owed_reply& reply) override;
  // Whether a request counts: those of an open loop by when they were due.
  [[nodiscard]] bool counts(const owed_reply& reply) const;
  void count_status(int status);
  // Counts a failure of all that the connection owes, and opens it again: at the next tick if it
  // was a failed connect or a time-out, which would fail again at once, else now.
  void fail(connection& peer, std::uint64_t load_errors::* kind, int error = 0);
  // The peer takes no more on this one: what it owes is asked for again on another.
  void open_another(connection& peer);
  void close(connection& peer);

  const load_plan& plan_;
  const std::atomic<bool>& stop_;
  std::latch& all_settled_;
  load_observer* observer_;
  int epoll_;
  known_head known_;
  std::vector<connection> connections_;
  std::vector<connection*> down_;
  pace pace_;
  std::deque<connection*> idle_;  // of an open loop: had room for a request; may be down by now
  std::size_t next_request_ = 0;
  std::size_t owed_ = 0;
  std::uint64_t replied_ = 0;  // when what was just received had come; 0: no request ended in it
  std::size_t connecting_ = 0;
  std::size_t connects_ = 0;  // that succeeded
  bool settled_ = false;      // every connection stood once, or not all of them will
  bool measuring_ = false;
  std::uint64_t started_ = 0;
  std::uint64_t window_start_ = 0;
  std::uint64_t window_end_ = 0;
  std::uint64_t next_tick_ = 0;
  std::uint64_t next_progress_ = 0;
  rusage usage_before_{};
  load_counts counts_;
  load_result result_;
  std::array<epoll_event, 1024> events_;
  std::array<char, 65536> input_;
  std::array<char, 16384> plain_;  // a TLS record holds no more
};

}  // namespace weft::bench
