// A loop's side of a simulated world: it answers operations as a kernel would.
//
// Contract: fault-free, in a world of its own, the clock stands still while anything can run and
// jumps to the next timer when nothing can, so that a test of a minute's timeout takes no time;
// waiting for nothing is a deadlock then, and ends the program with a message. In a world that is
// driven, enter() only says until when the loop would sleep, and the driver gives it its next turn.
// Bytes are taken from a send when it is answered, not when it starts; whoever changes them before
// is told so. File descriptors of the system are not served: readable() and writable() fail with
// errc::unsupported.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <weft/loop/backend.hpp>
#include <weft/loop/sim/sim_network.hpp>
#include <weft/loop/starved_line.hpp>

namespace weft {

class sim_backend final : public backend {
 public:
  sim_backend(backend_context context, sim_host& host, std::unique_ptr<sim_network> own);
  ~sim_backend() override;

  std::string_view name() const noexcept override { return "simulated"; }
  time_point now() const noexcept override { return network_.now() + host_.lead; }
  duration wall_now() const noexcept override;
  bool has_machine_addresses() const noexcept override { return false; }
  result<descriptor*> listen(const raw_address& address, const listen_options& options) override {
    return network_.listen(*this, address, options);
  }
  result<descriptor*> open_stream(int family) override {
    return network_.open_stream(*this, family);
  }
  result<descriptor*> open_datagram(int family, const datagram_options& options) override {
    return network_.open_datagram(*this, family, options);
  }
  std::unique_ptr<loose_socket> loosen(descriptor& socket) override {
    return network_.loosen(static_cast<sim_socket&>(socket));
  }
  result<descriptor*> adopt(std::unique_ptr<loose_socket> socket) override {
    return network_.adopt(*this, std::move(socket));
  }
  result<raw_address> local_address(const descriptor& socket) const override;
  result<raw_address> peer_address(const descriptor& socket) const override;
  void refuse_newcomers(descriptor& listener) noexcept override;
  bool has_input(descriptor& socket) noexcept override;
  peer_state state_of_peer(const descriptor& socket) const noexcept override;
  std::size_t unacknowledged_bytes(const descriptor& socket) const noexcept override;
  void shutdown_write(descriptor& socket) noexcept override;
  bool start(operation& op) noexcept override;
  bool receive_now(receive_operation& op) noexcept override;
  void cancel(operation& op) noexcept override;
  void abandon(descriptor& socket) noexcept override;
  bool quiescent() const noexcept override { return parked_ == 0; }
  void enter(time_point until) noexcept override;
  void wake() noexcept override;

  // For the driver.
  /// Whether the loop would leave its sleep now.
  [[nodiscard]] bool can_run() const noexcept {
    return !context_.ready.empty() || sleeps_until_ <= now() || woken_;
  }
  [[nodiscard]] time_point sleeps_until() const noexcept { return sleeps_until_; }
  /// Whether somebody has woken the loop, and it has not heard of it yet.
  [[nodiscard]] bool will_wake() const noexcept { return wakes_under_way_ != 0; }
  /// A socket's number stands for its descriptor.
  [[nodiscard]] std::vector<waiting_operation> waiting_operations() override;
  [[nodiscard]] std::vector<lent_buffer> lent_buffers() override;

  // For the network.
  [[nodiscard]] sim_host& host() noexcept { return host_; }
  /// Among all there ever were in this world.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  void late_wake_arrived() noexcept;
  /// What the operation that waits at `place` waits for may have come.
  void poke(sim_socket& socket, sim_place sim_socket::* place) noexcept;
  void handle(const sim_event& event, sim_socket& socket) noexcept;
  /// Answers all that waits at a socket whose host has died.
  void fail_all(sim_socket& socket) noexcept;
  /// Takes all receive buffers but a few, and gives them back.
  void hold_buffers(unsigned left) noexcept;
  void give_buffers_back() noexcept;

 private:
  static sim_socket& socket_of(operation& op) noexcept {
    return static_cast<sim_socket&>(*op.target);
  }
  [[nodiscard]] bool attempt(operation& op, sim_socket& socket) noexcept;
  [[nodiscard]] bool accept(accept_operation& op, sim_socket& listener) noexcept;
  [[nodiscard]] bool receive(receive_operation& op, sim_socket& socket) noexcept;
  [[nodiscard]] bool send(send_operation& op, sim_socket& socket) noexcept;
  [[nodiscard]] bool connect(connect_operation& op, sim_socket& socket) noexcept;
  [[nodiscard]] bool receive_datagrams(receive_datagrams_operation& op,
                                       sim_socket& socket) noexcept;
  void starve(sim_socket& socket) noexcept;
  [[nodiscard]] bool start_close(operation& op, sim_socket& socket) noexcept;
  void park(operation& op, sim_socket& socket, bool is_late) noexcept;
  void retry(sim_socket& socket, sim_place& place) noexcept;
  void answer_cancelled(sim_socket& socket, sim_place& place) noexcept;
  void unpark(sim_socket& socket, sim_place& place) noexcept;
  void finish_close(sim_socket& socket) noexcept;
  void feed_starved() noexcept;

  std::unique_ptr<sim_network> own_;
  backend_context context_;
  sim_host& host_;
  sim_network& network_;
  std::uint32_t number_;
  std::size_t parked_ = 0;  // operations that wait
  starved_line<sim_socket, &sim_socket::starved> starved_;
  std::vector<std::uint32_t> held_;  // buffers that the world keeps from the loop
  time_point sleeps_until_ = time_point::min();
  std::atomic<bool> woken_{false};
  unsigned wakes_under_way_ = 0;
};

/// `host`: of a world that outlives the loop; nullptr: a calm world of its own.
[[nodiscard]] std::unique_ptr<backend> make_sim_backend(backend_context context, sim_host* host);

}  // namespace weft
