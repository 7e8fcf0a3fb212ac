// A world of hosts without a machine: its clock, its network, and what goes wrong in it.
//
// Problem: the bugs of a server live in orders of events that a test machine hardly ever shows, and
// never twice. Contract: all that happens here follows from the seed: the time an event takes,
// which of two goes first, what fails. What goes over the network is TCP as Linux shows it: bytes
// arrive in order or not at all, a reset is told once, and what has arrived before it can still be
// read. Loops take part through sim_backend. With the default plan nothing fails, and nothing takes
// time. One thread; hosts and sockets stay where they are.
//
//   sim_network network{seed, sim_plan::draw(dice)};
//   sim_host& server = network.add_host();
//   auto loop = event_loop::create({.backend = backend_kind::simulated, .host = &server});
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weft/base/random.hpp>
#include <weft/loop/sim/sim_event.hpp>
#include <weft/loop/sim/sim_fault.hpp>
#include <weft/loop/sim/sim_socket.hpp>
#include <weft/loop/sim/sim_trace.hpp>

namespace weft {

class sim_network;
struct sim_host;

/// Who gives the loops of a world their turns.
class sim_driver {
 public:
  virtual ~sim_driver() = default;
  /// A host has crashed: all that its shards asked for has failed.
  virtual void crashed(sim_host& host) = 0;
  /// It is to begin anew.
  virtual void restarts(sim_host& host) = 0;
  /// A shard of this host is in the midst of its turn: another may have one now, as on a thread of
  /// its own.
  virtual void overlaps(sim_host& host) = 0;
};

struct sim_host {
  sim_network* network = nullptr;
  std::uint32_t index = 0;
  bool down = false;       // it has crashed
  bool is_lasting = true;  // it never crashes
  /// How far its clock is ahead: once it is dead, it runs to its end in no time.
  duration lead{};
  duration wall_offset{};
  time_point paused_until = time_point::min();
  time_point no_descriptors_until = time_point::min();
  std::vector<sim_backend*> backends;
  std::vector<std::uint32_t> connections;  // by the port they were made from
  std::uint32_t ports_used = 0;
};

class sim_network {
 public:
  /// When worlds begin.
  static constexpr time_point beginning{std::chrono::hours{1}};

  explicit sim_network(std::uint64_t seed = 0, const sim_plan& plan = {});
  sim_network(const sim_network&) = delete;
  sim_network& operator=(const sim_network&) = delete;
  ~sim_network();

  // The clock and what is to happen: for whoever drives the world.
  [[nodiscard]] time_point now() const noexcept { return now_; }
  /// Of what `sender` has sent: what its peer has not read, on its way or arrived.
  [[nodiscard]] std::size_t unread_bytes(const sim_socket& sender) noexcept {
    const sim_socket* const receiver = find(sender.peer);
    return receiver != nullptr ? receiver->held_bytes() : 0;
  }
  void advance(time_point to) noexcept { now_ = std::max(now_, to); }
  [[nodiscard]] time_point next_event() const noexcept { return events_.next(); }
  /// Lets happen what is due.
  void run_due();
  /// Before the first loop. Without a driver the one loop there is runs by itself, and calmly.
  void drive(sim_driver& driver) noexcept { driver_ = &driver; }
  [[nodiscard]] bool is_driven() const noexcept { return driver_ != nullptr; }
  /// Faults of the world happen from now on, for as long as the plan says.
  void begin_faults();
  [[nodiscard]] bool faults_are_over() const noexcept { return now_ >= faults_end_; }

  sim_host& add_host();
  [[nodiscard]] std::deque<sim_host>& hosts() noexcept { return hosts_; }
  /// Cuts a host off: its connections break, and all it asks for fails.
  void cut_off(sim_host& host);
  /// From now on a host is as new.
  void bring_back(sim_host& host) noexcept;

  // What backends ask for.
  [[nodiscard]] std::uint32_t next_backend_number() noexcept { return ++backends_made_; }
  /// Another shard may have its turn now.
  void let_overlap(sim_host& host) {
    if (is_driven() && !host.down && host.backends.size() > 1) driver_->overlaps(host);
  }
  /// Wakes a shard some time later.
  void wake_later(const sim_backend& sleeper);
  [[nodiscard]] result<descriptor*> listen(sim_backend& owner, const raw_address& address,
                                           const listen_options& options);
  [[nodiscard]] result<descriptor*> open_stream(sim_backend& owner, int family);
  [[nodiscard]] result<descriptor*> open_datagram(sim_backend& owner, int family,
                                                  const datagram_options& options);
  /// On its way between two shards of its host, as it was while it stood in line.
  [[nodiscard]] std::unique_ptr<loose_socket> loosen(sim_socket& socket);
  [[nodiscard]] descriptor* adopt(sim_backend& owner,
                                  std::unique_ptr<loose_socket> socket) noexcept;
  void refuse_newcomers(sim_socket& listener) noexcept;
  void connect(sim_socket& socket, const raw_address& to);
  /// The first in line, or nullptr.
  [[nodiscard]] sim_socket* take_from_line(sim_socket& listener);
  /// As recv() and send(): a count, or a negated errno; -EAGAIN is not to be told to the user.
  [[nodiscard]] int receive(sim_socket& socket, char* into, std::size_t room);
  [[nodiscard]] int send(sim_socket& socket, const send_operation& op);
  /// As recvmmsg() and sendmmsg(); -ENOBUFS: there is no buffer for what has come.
  [[nodiscard]] int receive_datagrams(sim_socket& socket, std::span<datagram> room,
                                      buffer_pool& buffers);
  [[nodiscard]] int send_datagrams(sim_socket& socket, std::span<mmsghdr> messages);
  void shut_down(sim_socket& socket);
  void close(sim_socket& socket);
  void later(sim_event::kind what, const sim_socket& socket, std::uint64_t value);

  // Chance.
  [[nodiscard]] random& dice() noexcept { return dice_; }
  /// Whether a fault of this kind strikes here and now. Counts it.
  [[nodiscard]] bool strikes(sim_fault kind) {
    const std::uint16_t rate = plan_.rate(kind);
    return rate != 0 && !faults_are_over() && draw(kind, rate);
  }
  void count(sim_fault kind) noexcept { ++counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const sim_fault_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] sim_trace& trace() noexcept { return trace_; }

  // What is left, and what was hit.
  [[nodiscard]] std::size_t sockets_of(const sim_backend& owner) const noexcept;
  template <class F>
  void for_each_socket_of(const sim_backend& owner, F see) const {
    for (const sim_socket& each : sockets_)
      if (each.open && each.owner == &owner) see(each);
  }
  /// Whether something has struck the connection made from this address: it may break, or be late.
  [[nodiscard]] bool was_struck(const raw_address& client) const noexcept;

 private:
  [[nodiscard]] bool draw(sim_fault kind, std::uint16_t rate);
  [[nodiscard]] bool is_calm() const noexcept { return plan_.latency_max == duration::zero(); }
  [[nodiscard]] duration draw_latency();
  [[nodiscard]] duration draw_between(duration least, duration most) {
    return duration{dice_.between(least.count(), most.count())};
  }
  void at(time_point when, sim_event event);
  /// After the time it takes, or at once where nothing takes time.
  void deliver(sim_event event);
  void handle(const sim_event& event);
  void handle_at_network(const sim_event& event, sim_socket& socket);
  /// When an event that is due may pass.
  [[nodiscard]] time_point passage(const sim_socket& socket) const noexcept;

  [[nodiscard]] sim_socket& add_socket(sim_backend& owner, sim_host& host);
  void remove_socket(sim_socket& socket) noexcept;
  [[nodiscard]] sim_socket* find(sim_handle handle) noexcept;
  [[nodiscard]] raw_address free_address(sim_host& host, const raw_address& like) noexcept;
  void arrive_wake(std::uint64_t backend_number) noexcept;
  [[nodiscard]] std::optional<error> why_no_socket(const sim_host& host) noexcept;
  [[nodiscard]] raw_address own_address(const sim_host& host, int family) const noexcept;
  [[nodiscard]] raw_address source_address(const sim_socket& socket) const noexcept;
  [[nodiscard]] int send_datagram(sim_socket& socket, const msghdr& message);
  void carry(sim_datagram sent);
  void arrive_datagram(std::uint64_t slot);
  [[nodiscard]] sim_socket* find_datagram_socket(sim_host& there, const sim_datagram& come);
  [[nodiscard]] sim_host* host_of(sim_host& asking, const raw_address& address) noexcept;
  [[nodiscard]] sim_socket* find_listener(sim_host& host, const raw_address& address);
  void arrive_syn(sim_socket& client);
  void establish(sim_socket& client, sim_socket& listener);
  void arrive_rst(sim_socket& socket, int why, bool loses_bytes);
  class loose_end;
  void mark(const sim_socket& socket) noexcept;
  void mark_all(const sim_host& host) noexcept;

  void strike();
  void strike_reset();
  void strike_stall();
  void strike_partition();
  void strike_buffers();
  void strike_descriptors();
  void strike_pause();
  void strike_clock();
  void strike_crash();
  [[nodiscard]] sim_socket* draw_connection();

  random dice_;
  sim_plan plan_;
  time_point now_ = beginning;
  time_point faults_end_ = beginning;
  sim_event_queue events_;
  std::uint64_t latest_handled_ = 0;
  sim_trace trace_;
  sim_fault_counts counts_{};
  std::deque<sim_host> hosts_;
  std::deque<sim_socket> sockets_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<sim_handle> listeners_;
  std::vector<sim_datagram> under_way_;
  std::vector<std::uint32_t> free_under_way_;
  std::vector<sim_socket*> fitting_;           // scratch
  std::vector<bool> struck_;                   // by the number of the connection
  std::vector<time_point> partitioned_until_;  // by pair of hosts
  sim_driver* driver_ = nullptr;
  std::uint32_t backends_made_ = 0;
};

}  // namespace weft
