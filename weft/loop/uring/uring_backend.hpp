// The loop on io_uring: completions, batched, one system call a turn.
//
// Contract: needs Linux 6.0 (6.1 for the faster set-up). One ring a shard, made on the shard's
// thread. Connections are accepted and bytes received by multishot operations into one ring of
// buffers lent from the shard's pool, so that an idle connection holds none. A connection that has
// four buffers waiting is told to stop until they are taken; one that finds the ring dry waits in a
// FIFO and is armed again as buffers come back. Nothing is freed, and no descriptor closed, while
// the kernel holds a reference to it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/slab.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/kernel_clock.hpp>
#include <weft/loop/socket_calls.hpp>
#include <weft/loop/starved_line.hpp>
#include <weft/loop/uring/buffer_ring.hpp>
#include <weft/loop/uring/ring.hpp>
#include <weft/loop/uring/uring_descriptor.hpp>

namespace weft {

class uring_backend final : public backend {
 public:
  explicit uring_backend(backend_context context)
      : context_{context}, buffers_{context.buffers}, inboxes_{context.buffers} {}
  ~uring_backend() override;
  [[nodiscard]] result<void> open(std::string& why);

  std::string_view name() const noexcept override { return "io_uring"; }
  time_point now() const noexcept override { return kernel_clock::now(); }
  result<descriptor*> listen(const raw_address& address, const listen_options& options) override;
  result<descriptor*> open_stream(int family) override;
  result<descriptor*> open_datagram(int family, const datagram_options& options) override;
  std::unique_ptr<loose_socket> loosen(descriptor& socket) override;
  result<descriptor*> adopt(std::unique_ptr<loose_socket> socket) override {
    return add(loose_file::take(std::move(socket)));
  }
  result<raw_address> local_address(const descriptor& socket) const override {
    return socket_address(socket.fd);
  }
  result<raw_address> peer_address(const descriptor& socket) const override {
    return socket_peer(socket.fd);
  }
  void refuse_newcomers(descriptor& listener) noexcept override { close_line(listener.fd); }
  bool has_input(descriptor& socket) noexcept override;
  peer_state state_of_peer(const descriptor& socket) const noexcept override {
    return peer_at(socket.fd);
  }
  std::size_t unacknowledged_bytes(const descriptor& socket) const noexcept override {
    return unacknowledged_at(socket.fd);
  }
  void shutdown_write(descriptor& socket) noexcept override { ::shutdown(socket.fd, SHUT_WR); }
  std::int64_t send_file(descriptor& to, int file, std::uint64_t offset,
                         std::size_t size_bytes) noexcept override {
    return send_resident(to.fd, file, offset, size_bytes);
  }
  bool start(operation& op) noexcept override;
  bool receive_now(receive_operation& op) noexcept override;
  void cancel(operation& op) noexcept override;
  void abandon(descriptor& socket) noexcept override {
    begin_close(static_cast<uring_descriptor&>(socket));
  }
  bool quiescent() const noexcept override { return closing_ == 0 && in_kernel_ == 0; }
  std::vector<waiting_operation> waiting_operations() override;
  std::vector<lent_buffer> lent_buffers() override;
  [[nodiscard]] bool has_to_hand_over() const noexcept override { return ring_.has_entries(); }
  void enter(time_point until) noexcept override;
  void wake() noexcept override { signal_wake(wake_); }

 private:
  static uring_descriptor& socket_of(operation& op) noexcept {
    return static_cast<uring_descriptor&>(*op.target);
  }

  [[nodiscard]] uring_descriptor* keep(int fd) noexcept;
  [[nodiscard]] result<uring_descriptor*> add(result<int> fd) noexcept;
  void answer(operation& op, int result) noexcept;
  bool list(listed_operation& op) noexcept;
  void on_listed(listed_operation& op, int result) noexcept;
  void collect_sends(std::size_t count, std::vector<waiting_operation>& into);

  bool start_receive(receive_operation& op) noexcept;
  bool start_accept(accept_operation& op) noexcept;

  bool start_receive_datagrams(receive_datagrams_operation& op) noexcept;
  bool start_send_datagrams(send_datagrams_operation& op) noexcept;

  bool take_buffer(uring_descriptor& d, receive_operation& op) noexcept;
  bool take_connection(uring_descriptor& d, accept_operation& op) noexcept;
  bool accept_now(uring_descriptor& d, accept_operation& op) noexcept;
  void give_connection(int fd, accept_operation& op) noexcept;
  bool serve_acceptor(uring_descriptor& d, accept_operation& op) noexcept;
  bool take_datagrams(uring_descriptor& d, receive_datagrams_operation& op) noexcept;
  void prepare_receive_datagrams(uring_descriptor& d) noexcept;
  void arm(uring_descriptor& d) noexcept;
  void disarm(uring_descriptor& d) noexcept;
  void wait_for_buffer(uring_descriptor& d) noexcept;

  void begin_close(uring_descriptor& d) noexcept;
  void submit_close(uring_descriptor& d) noexcept;
  void finish_close(uring_descriptor& d) noexcept;

  void on_answer(const io_uring_cqe& cqe) noexcept;
  void on_receive(uring_descriptor& d, const io_uring_cqe& cqe) noexcept;
  void on_accept(uring_descriptor& d, const io_uring_cqe& cqe) noexcept;
  void on_datagram(uring_descriptor& d, const io_uring_cqe& cqe) noexcept;
  void serve_datagram_readers() noexcept;
  void serve_datagram_reader(uring_descriptor& d) noexcept;
  void on_wake(const io_uring_cqe& cqe) noexcept;
  void serve_reader(uring_descriptor& d) noexcept;
  void watch_wake() noexcept;
  void reap() noexcept;

  backend_context context_;
  ring ring_;
  buffer_ring buffers_;
  slab<uring_descriptor> sockets_;
  intrusive_list<uring_descriptor, &uring_descriptor::all> open_;
  starved_line<uring_descriptor, &uring_descriptor::starved> starved_;
  inboxes inboxes_;
  std::vector<uring_descriptor*> fed_;  // datagram sockets that the answers at hand are for
  std::size_t closing_ = 0;
  std::size_t in_kernel_ = 0;  // operations submitted one by one
  intrusive_list<listed_operation, &listed_operation::listed> listed_;  // of these, all but sends
  int wake_ = -1;
};

/// Fails with errc::unsupported or the system's reason where the kernel, a container's policy or a
/// limit forbids it; `why` then says which step was refused.
[[nodiscard]] result<std::unique_ptr<backend>> make_uring_backend(backend_context context,
                                                                  std::string& why);

}  // namespace weft
