// The kernel's side of a loop, behind one interface: io_uring, epoll, or a simulated world. The
// same code above runs on each.
//
// Contract: all calls but wake() come from the loop's thread. Sockets are named by descriptors, so
// that a backend need not have files. A descriptor takes one operation of each direction (accept or
// receive; send or connect) at a time. Nothing above is called from inside a backend: answers are
// scheduled. Errors of set-up are values that name the cause.
//
//   auto listener = backend.listen(address, address_bytes, {.backlog = 4096});
//   backend.start(accept);
//   backend.enter(wait_until);
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/ready_queue.hpp>
#include <weft/loop/loose_socket.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

enum class backend_kind : std::uint8_t { automatic, io_uring, epoll, simulated };

struct listen_options {
  int backlog = 4096;
  /// SO_REUSEPORT: several listeners, one a shard, on an address that net::address_claim has made
  /// sure of.
  bool shared = false;
  /// TCP_DEFER_ACCEPT, for protocols in which the client speaks first: a connection is handed out
  /// when its first bytes have come, which saves a wake-up. Who stays silent comes a second later.
  bool deferred = false;
  /// A listening socket of this program to accept from as well, instead of making one: for Unix
  /// sockets, which have no SO_REUSEPORT. Stays the caller's; -1: none.
  int inherited = -1;
  /// Whether that socket goes on when all of this program's listeners have closed, since others
  /// have it, too: those who stand in its line are left to them.
  bool lent = false;
};

/// What is known of the other end of a connection.
enum class peer_state : std::uint8_t {
  open,
  silent,  // it sends no more: it has closed, or has only ended its output
  gone     // what is sent to it does not arrive
};

/// How a datagram socket has its address.
enum class address_sharing : std::uint8_t {
  none,   // alone: nobody else can bind it
  first,  // alone at first, and then open to those who join
  joins   // beside the sockets of this program that have it already
};

struct datagram_options {
  const raw_address* local = nullptr;  // nullptr: the system chooses one
  const raw_address* peer = nullptr;   // the only one to exchange datagrams with; nullptr: anyone
  address_sharing sharing = address_sharing::none;
};

/// For reports: what has not been answered, and the descriptor it is about. -1: about none, or it
/// is not known.
struct waiting_operation {
  operation_kind kind;
  int fd;
};

/// For reports: a receive buffer that nobody above the backend holds. -1: the kernel has been given
/// it in advance; else it has input of this descriptor that has not been read.
struct lent_buffer {
  std::uint32_t slot;
  int fd = -1;
};

class backend {
 public:
  virtual ~backend() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual time_point now() const noexcept = 0;
  /// What time people say it is, since 1970-01-01 00:00:00 UTC; may jump.
  [[nodiscard]] virtual duration wall_now() const noexcept;
  /// Whether addresses are the machine's, which other programs may hold, and not a world of its
  /// own.
  [[nodiscard]] virtual bool has_machine_addresses() const noexcept { return true; }

  [[nodiscard]] virtual result<descriptor*> listen(const raw_address& address,
                                                   const listen_options& options) = 0;
  /// A stream socket to start a connect_operation on.
  [[nodiscard]] virtual result<descriptor*> open_stream(int family) = 0;
  /// A datagram socket, bound and connected as `options` say. errc::unsupported where there are
  /// none.
  [[nodiscard]] virtual result<descriptor*> open_datagram(int /*family*/,
                                                          const datagram_options& /*options*/) {
    return fail(errc::unsupported);
  }
  /// Takes a connection on which nothing has been started yet away from this loop. `socket` is no
  /// more.
  [[nodiscard]] virtual std::unique_ptr<loose_socket> loosen(descriptor& socket) = 0;
  /// Takes over what another loop's backend has loosened.
  [[nodiscard]] virtual result<descriptor*> adopt(std::unique_ptr<loose_socket> socket) = 0;
  [[nodiscard]] virtual result<raw_address> local_address(const descriptor& socket) const = 0;
  [[nodiscard]] virtual result<raw_address> peer_address(const descriptor& socket) const = 0;
  /// From now on nobody joins the line of `listener`; who stands in it can still be accepted, and
  /// so can whoever is in the middle of a handshake. Others are refused at the latest when it
  /// closes.
  virtual void refuse_newcomers(descriptor& listener) noexcept = 0;
  /// Whether bytes have come that no receive has answered with. Asks the kernel; not the end of the
  /// stream.
  [[nodiscard]] virtual bool has_input(descriptor& socket) noexcept = 0;
  /// Of a connection. Asks the kernel; takes nothing of what has come.
  [[nodiscard]] virtual peer_state state_of_peer(const descriptor& socket) const noexcept = 0;
  /// Of what has been sent over a connection: the bytes that the peer's system has not
  /// acknowledged, or, of a Unix socket, the memory that the peer has not read. Asks the kernel; 0
  /// where it cannot say.
  [[nodiscard]] virtual std::size_t unacknowledged_bytes(
      const descriptor& socket) const noexcept = 0;
  /// Tells the peer that no more will be sent; what is queued in the kernel is still delivered.
  virtual void shutdown_write(descriptor& socket) noexcept = 0;

  /// Sends of a file, from `offset` on, what is at hand: of at most `size_bytes` > 0, without a
  /// copy and without a wait. How many bytes; or -EAGAIN where the system has not got them in
  /// memory, or the connection has no room, -EOPNOTSUPP where it knows no such way, another negated
  /// errno. Not while a send is under way.
  [[nodiscard]] virtual std::int64_t send_file(descriptor& /*to*/, int /*file*/,
                                               std::uint64_t /*offset*/,
                                               std::size_t /*size_bytes*/) noexcept {
    return -EOPNOTSUPP;
  }

  /// True: answered at once, `op.result` stands and nothing is queued. False: the answer will be
  /// scheduled.
  [[nodiscard]] virtual bool start(operation& op) noexcept = 0;
  /// start() for who does not wait: false if there is no answer yet, and nothing was started.
  [[nodiscard]] virtual bool receive_now(receive_operation& op) noexcept = 0;
  /// Asks for an early answer (-ECANCELED). Does nothing for an operation whose answer is already
  /// on its way.
  virtual void cancel(operation& op) noexcept = 0;
  /// close_operation without a waiter: for a stream that is dropped.
  virtual void abandon(descriptor& socket) noexcept = 0;
  /// Whether nothing is left that the kernel could still answer to (abandoned sockets included).
  [[nodiscard]] virtual bool quiescent() const noexcept = 0;
  /// Operations that have not been answered, and sockets that are being closed. Collected when
  /// asked, in time linear in the open sockets.
  [[nodiscard]] virtual std::vector<waiting_operation> waiting_operations() = 0;
  [[nodiscard]] virtual std::vector<lent_buffer> lent_buffers() { return {}; }

  /// Whether there is something to hand over, which takes the kernel its time.
  [[nodiscard]] virtual bool has_to_hand_over() const noexcept { return false; }
  /// Hands over all that was started, waits for an answer until `until` (a time not after now: does
  /// not wait), and schedules what was answered.
  virtual void enter(time_point until) noexcept = 0;
  /// Can be read when enter() would have something to take. -1: there is no such descriptor, as on
  /// io_uring, whose deferred answers come only to who asks for them.
  [[nodiscard]] virtual int poll_descriptor() noexcept { return -1; }
  /// Ends the wait of the current or next enter(). From any thread, async-signal-safe.
  virtual void wake() noexcept = 0;
};

/// What a backend needs from its loop.
struct backend_context {
  ready_queue& ready;
  buffer_pool& buffers;
};

}  // namespace weft
