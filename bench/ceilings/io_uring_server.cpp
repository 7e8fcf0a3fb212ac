// The floor of what a request costs on io_uring: requests arrive by multishot receive into shared
// buffers, replies leave as one send each, and a turn makes one system call for all of them.
//
// SINGLE_ISSUER and DEFER_TASKRUN keep the kernel from interrupting us: completions are made when
// we ask for them. An echo is sent straight out of the buffer it arrived in.
//
// A descriptor is closed once its receive has ended and its send has answered, so no completion
// ever meets a reused descriptor.
//
//   io_uring_server 9100 http      answers POST /ping {"sequence": N}, and GET with a greeting
//   io_uring_server 9100 echo      gives back what it gets
#include <liburing.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "listen.hpp"
#include "ping.hpp"

namespace {

[[noreturn]] void die(const char* what, int error) {
  std::fprintf(stderr, "io_uring_server: %s: %s\n", what, std::strerror(error));
  std::exit(1);
}

// One region that the kernel picks receive buffers from.
class provided_buffers {
 public:
  static constexpr std::uint16_t group = 0;
  // A power of two. The kernel takes them in turn, so more buffers than the cache holds cost 3 % of
  // a request; fewer than connections with something to say cost a second receive for the rest.
  static constexpr unsigned count = 1024;
  static constexpr unsigned bytes_each = 1024;

  explicit provided_buffers(io_uring& ring) {
    constexpr std::size_t ring_bytes = count * sizeof(io_uring_buf);
    void* const memory = ::mmap(nullptr, ring_bytes + std::size_t{count} * bytes_each,
                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) die("mmap", errno);
    ring_ = static_cast<io_uring_buf_ring*>(memory);
    buffers_ = static_cast<char*>(memory) + ring_bytes;

    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring_);
    registration.ring_entries = count;
    registration.bgid = group;
    const int error = ::io_uring_register_buf_ring(&ring, &registration, 0);
    if (error != 0) die("cannot register buffers", -error);
    ::io_uring_buf_ring_init(ring_);
    for (unsigned id = 0; id < count; ++id) give_back(static_cast<std::uint16_t>(id));
  }

  [[nodiscard]] char* at(std::uint16_t id) const { return buffers_ + std::size_t{id} * bytes_each; }
  void give_back(std::uint16_t id) {
    ::io_uring_buf_ring_add(ring_, at(id), bytes_each, id, count - 1, 0);
    ::io_uring_buf_ring_advance(ring_, 1);
  }

 private:
  io_uring_buf_ring* ring_ = nullptr;
  char* buffers_ = nullptr;
};

class io_uring_server {
 public:
  io_uring_server(int listener, ceiling::protocol speaks)
      : listener_(listener), speaks_(speaks), ring_(make_ring()), buffers_(ring_) {
    accept();
  }

  [[noreturn]] void run() {
    for (;;) {
      ::io_uring_submit_and_wait(&ring_, 1);
      unsigned head = 0;
      unsigned seen = 0;
      io_uring_cqe* completion = nullptr;
      io_uring_for_each_cqe(&ring_, head, completion) {
        ++seen;
        dispatch(*completion);
      }
      ::io_uring_cq_advance(&ring_, seen);
      // Those that found no free buffer try again now that this turn has given some back.
      for (const int fd : std::exchange(starved_, {})) receive(fd);
    }
  }

 private:
  enum class operation : std::uint8_t { accept, receive, send };

  struct connection {
    std::string unread;          // the start of a request whose rest has not come yet
    std::string unsent;          // waits for the send in flight
    std::string sending;         // what the send in flight reads from, unless `held` does
    std::string_view in_flight;  // the rest of the send in flight
    int held = -1;               // the shared buffer that an echo is sent from
    bool receiving = false;
  };
  static constexpr std::size_t unsent_limit = std::size_t{4} * 1024 * 1024;

  static io_uring make_ring() {
    io_uring ring{};
    io_uring_params parameters{};
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                       IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
    parameters.cq_entries = 16384;
    const int error = ::io_uring_queue_init_params(4096, &ring, &parameters);
    if (error != 0) die("cannot make a ring", -error);
    ::io_uring_register_ring_fd(&ring);  // only spares the kernel a look-up: may fail
    return ring;
  }

  io_uring_sqe* submission() {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    while (entry == nullptr) {
      ::io_uring_submit(&ring_);
      entry = ::io_uring_get_sqe(&ring_);
    }
    return entry;
  }

  static void tag(io_uring_sqe* entry, operation what, int fd) {
    ::io_uring_sqe_set_data64(
        entry, (std::uint64_t{std::to_underlying(what)} << 32) | static_cast<std::uint32_t>(fd));
  }

  void accept() {
    io_uring_sqe* const entry = submission();
    ::io_uring_prep_multishot_accept(entry, listener_, nullptr, nullptr, SOCK_CLOEXEC);
    tag(entry, operation::accept, listener_);
  }

  void receive(int fd) {
    io_uring_sqe* const entry = submission();
    ::io_uring_prep_recv_multishot(entry, fd, nullptr, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = provided_buffers::group;
    tag(entry, operation::receive, fd);
    at(fd).receiving = true;
  }

  void dispatch(const io_uring_cqe& completion) {
    const int fd = static_cast<int>(completion.user_data & 0xffff'ffff);
    switch (static_cast<operation>(completion.user_data >> 32)) {
      case operation::accept: return on_accept(completion);
      case operation::receive: return on_receive(fd, completion);
      case operation::send: return on_send(fd, completion.res);
    }
  }

  void on_accept(const io_uring_cqe& completion) {
    if ((completion.flags & IORING_CQE_F_MORE) == 0) accept();
    if (completion.res < 0) return;
    const auto fd = static_cast<std::size_t>(completion.res);
    if (fd >= connections_.size()) connections_.resize(fd * 2);
    receive(completion.res);
  }

  void on_receive(int fd, const io_uring_cqe& completion) {
    connection& peer = at(fd);
    if ((completion.flags & IORING_CQE_F_MORE) == 0) peer.receiving = false;
    if (completion.res > 0) {
      const auto id = static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT);
      const std::string_view input{buffers_.at(id), static_cast<std::size_t>(completion.res)};
      if (speaks_ == ceiling::protocol::http) {
        serve(fd, input);
        buffers_.give_back(id);
      } else if (peer.in_flight.empty()) {
        peer.held = id;
        send(fd, input);
      } else {
        send_later(fd, input);
        buffers_.give_back(id);
      }
      if (!peer.receiving) receive(fd);
    } else if (completion.res == -ENOBUFS) {
      starved_.push_back(fd);
      peer.receiving = true;  // it will be: do not close the descriptor before
    } else {
      close_when_idle(fd);
    }
  }

  void serve(int fd, std::string_view input) {
    connection& peer = at(fd);
    if (!peer.unread.empty()) {
      peer.unread += input;
      input = peer.unread;
    }
    replies_->clear();
    ceiling::outcome request{};
    for (;;) {
      request = ceiling::serve_one(input, *replies_);
      if (request.what != ceiling::verdict::complete) break;
      input.remove_prefix(request.used);
      if (input.empty()) break;
    }
    if (request.what == ceiling::verdict::malformed || input.size() > ceiling::input_limit) {
      ::shutdown(fd, SHUT_RDWR);  // ends the receive, which closes the descriptor
      return;
    }
    if (input.empty()) {
      peer.unread.clear();
    } else {
      peer.unread = std::string{input};
    }
    if (replies_->empty()) return;
    if (!peer.in_flight.empty()) return send_later(fd, replies_->view());
    peer.sending.assign(replies_->view());
    send(fd, peer.sending);
  }

  // A peer that does not take its replies is cut off.
  void send_later(int fd, std::string_view bytes) {
    at(fd).unsent += bytes;
    if (at(fd).unsent.size() > unsent_limit) ::shutdown(fd, SHUT_RDWR);
  }

  void send(int fd, std::string_view bytes) {
    at(fd).in_flight = bytes;
    io_uring_sqe* const entry = submission();
    ::io_uring_prep_send(entry, fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_WAITALL);
    tag(entry, operation::send, fd);
  }

  void on_send(int fd, int sent) {
    connection& peer = at(fd);
    if (sent > 0) peer.in_flight.remove_prefix(static_cast<std::size_t>(sent));
    if (sent > 0 && !peer.in_flight.empty()) return send(fd, peer.in_flight);

    peer.in_flight = {};
    if (peer.held >= 0) buffers_.give_back(static_cast<std::uint16_t>(peer.held));
    peer.held = -1;
    if (sent <= 0) {
      peer.unsent.clear();
      ::shutdown(fd, SHUT_RDWR);
    }
    if (!peer.unsent.empty()) {
      peer.sending.swap(peer.unsent);
      peer.unsent.clear();
      return send(fd, peer.sending);
    }
    if (!peer.receiving) close_when_idle(fd);
  }

  void close_when_idle(int fd) {
    connection& peer = at(fd);
    if (peer.receiving || !peer.in_flight.empty()) return;
    peer = {};
    ::close(fd);
  }

  connection& at(int fd) { return connections_[static_cast<std::size_t>(fd)]; }

  int listener_;
  ceiling::protocol speaks_;
  io_uring ring_;
  provided_buffers buffers_;
  std::vector<connection> connections_;  // by descriptor
  std::vector<int> starved_;
  std::unique_ptr<ceiling::reply_buffer> replies_ = std::make_unique<ceiling::reply_buffer>();
};

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = ceiling::parse(argc, argv);
  if (!arguments) return 2;
  const int listener = ceiling::listen_on_loopback(arguments->port);
  if (listener < 0) return 1;
  io_uring_server{listener, arguments->speaks}.run();
}
