// Internal: how a load runs. One thread and its epoll descriptor: what is due (load_loop.cpp), and
// what happens on connections (load_exchange.cpp).
#pragma once

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "load.hpp"
#include "pace.hpp"
#include "response_framer.hpp"

namespace weft::bench {

/// Steady time in nanoseconds; std::chrono's clock is the same call.
std::uint64_t steady_ns();

// How a connection is.
enum class link : std::uint8_t {
  down,
  connecting,
  standing,  // connected, and waits for the others, or until a request is due
  waiting,   // for a reply
};

struct connection {
  explicit connection(known_head& known, bool answers_head) : framer(known, answers_head) {}

  int fd = -1;
  link state = link::down;
  std::uint64_t since = 0;  // the connect's or the request's start
  std::uint64_t due = 0;    // when the request should have started
  std::size_t sent = 0;     // bytes of the request
  std::size_t echoed = 0;   // bytes of it that came back
  response_framer framer;
};

class load_loop {
 public:
  load_loop(const load_plan& plan, const volatile std::sig_atomic_t& stop, load_observer* observer)
      : plan_(plan),
        stop_(stop),
        observer_(observer),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        pace_(plan.rate) {
    connections_.reserve(static_cast<std::size_t>(plan.connections));
    for (int i = 0; i < plan.connections; ++i) {
      connections_.emplace_back(known_, plan.expects == reply_kind::http_to_head);
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
  void settle(std::uint64_t time);
  void send_due(std::uint64_t time);
  void turn(std::uint64_t time);
  [[nodiscard]] std::uint64_t sleep_ns(std::uint64_t time) const;
  [[nodiscard]] bool is_over(std::uint64_t time) const;
  void tick(std::uint64_t time);
  void begin_window(std::uint64_t time);
  void count_unanswered();
  void end_window(std::uint64_t time);
  void expire(std::uint64_t time);

  void open(connection& peer, std::uint64_t time);
  void open_those_down(std::uint64_t time);
  void open_one_down(std::uint64_t time);
  void on_event(connection& peer, std::uint32_t events);
  void on_connected(connection& peer);
  // A connection has nothing to do: its next request, if one is due.
  void go_on(connection& peer, std::uint64_t time);
  void begin_request(connection& peer, std::uint64_t due, std::uint64_t time);
  void send_rest(connection& peer);
  void receive(connection& peer, bool to_the_end);
  void on_echo(connection& peer, std::string_view bytes);
  void on_http(connection& peer, std::string_view bytes);
  void complete(connection& peer, bool reuse);
  void on_end(connection& peer);
  // Whether its request counts: those of an open loop by when they were due.
  [[nodiscard]] bool counts(const connection& peer) const;
  void count_status(const connection& peer);
  // Counts the failure and opens the connection again: at the next tick if it was a failed connect
  // or a time-out, which would fail again at once, else now.
  void fail(connection& peer, std::uint64_t load_errors::* kind, int error = 0);
  void close(connection& peer);

  const load_plan& plan_;
  const volatile std::sig_atomic_t& stop_;
  load_observer* observer_;
  int epoll_;
  known_head known_;
  std::vector<connection> connections_;
  std::vector<connection*> down_;
  pace pace_;
  std::deque<connection*> idle_;  // of an open loop; whoever is not `standing` has left it
  std::size_t waiting_ = 0;
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
};

}  // namespace weft::bench
