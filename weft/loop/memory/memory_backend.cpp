#include <weft/loop/memory/memory_backend.hpp>

#include <netinet/in.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string>

#include <weft/base/assert.hpp>
#include <weft/base/slab.hpp>

namespace weft {
namespace {

/// What a sender may have on the way before it must wait: a socket buffer.
constexpr std::size_t pipe_bytes = 64 * 1024;
constexpr std::uint16_t first_free_port = 49'152;

struct memory_descriptor : descriptor {
  raw_address local;
  raw_address remote;
  operation* reader = nullptr;
  operation* writer = nullptr;
  memory_descriptor* peer = nullptr;
  std::string inbox;         // bytes the peer has sent
  std::size_t consumed = 0;  // of inbox, from the front
  bool listening = false;
  bool inbox_ended = false;  // the peer will send no more
  bool reset = false;        // the peer went away with bytes unread
  std::deque<memory_descriptor*> backlog;
  std::size_t backlog_limit = 0;

  [[nodiscard]] std::size_t unread() const noexcept { return inbox.size() - consumed; }
};

bool same_address(const raw_address& left, const raw_address& right) noexcept {
  return left.size_bytes == right.size_bytes &&
         std::memcmp(&left.storage, &right.storage, left.size_bytes) == 0;
}

std::uint16_t* port_of(raw_address& address) noexcept {
  switch (address.storage.ss_family) {
    case AF_INET: return &reinterpret_cast<sockaddr_in&>(address.storage).sin_port;
    case AF_INET6: return &reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port;
    default: return nullptr;
  }
}

}  // namespace

class memory_backend final : public backend {
 public:
  memory_backend(backend_context context, time_point start) noexcept
      : context_{context}, now_{start} {}

  std::string_view name() const noexcept override { return "memory"; }
  time_point now() const noexcept override { return now_; }
  bool has_machine_addresses() const noexcept override { return false; }
  result<descriptor*> listen(const raw_address& address, const listen_options& options) override;
  result<descriptor*> open_stream(int family) override;
  result<raw_address> local_address(const descriptor& socket) const override {
    return at(socket).local;
  }
  result<raw_address> peer_address(const descriptor& socket) const override {
    return at(socket).remote;
  }
  void refuse_newcomers(descriptor& listener) noexcept override {
    std::erase(listeners_, &static_cast<memory_descriptor&>(listener));
  }
  bool has_input(descriptor& socket) noexcept override { return at(socket).unread() != 0; }
  void shutdown_write(descriptor& socket) noexcept override;
  bool start(operation& op) noexcept override;
  void cancel(operation& op) noexcept override;
  void abandon(descriptor& socket) noexcept override {
    release(static_cast<memory_descriptor&>(socket));
  }
  bool quiescent() const noexcept override { return parked_ == 0; }
  void enter(time_point until) noexcept override;
  void wake() noexcept override { woken_.store(true, std::memory_order_release); }

 private:
  static const memory_descriptor& at(const descriptor& socket) noexcept {
    return static_cast<const memory_descriptor&>(socket);
  }
  static memory_descriptor& socket_of(operation& op) noexcept {
    return static_cast<memory_descriptor&>(*op.target);
  }

  bool attempt(operation& op) noexcept;
  bool accept(memory_descriptor& d, accept_operation& op) noexcept;
  bool receive(memory_descriptor& d, receive_operation& op) noexcept;
  bool send(memory_descriptor& d, send_operation& op) noexcept;
  bool connect(memory_descriptor& d, connect_operation& op) noexcept;
  void release(memory_descriptor& d) noexcept;
  /// What `parked` waits for may have come.
  void retry(operation*& parked) noexcept;
  void end_inbox(memory_descriptor& d, bool reset) noexcept;
  raw_address free_address(const raw_address& like) noexcept;

  backend_context context_;
  time_point now_;
  slab<memory_descriptor> sockets_;
  std::vector<memory_descriptor*> listeners_;
  std::size_t parked_ = 0;  // operations that wait
  std::uint16_t next_port_ = first_free_port;
  std::atomic<bool> woken_{false};
};

raw_address memory_backend::free_address(const raw_address& like) noexcept {
  raw_address address = like;
  std::uint16_t* port = port_of(address);
  if (port == nullptr || *port != 0) return address;
  *port = htons(next_port_++);
  if (next_port_ == 0) next_port_ = first_free_port;
  return address;
}

result<descriptor*> memory_backend::listen(const raw_address& address,
                                           const listen_options& options) {
  const raw_address local = free_address(address);
  for (const memory_descriptor* other : listeners_)
    if (same_address(other->local, local)) return fail({errc::address_in_use, EADDRINUSE});
  memory_descriptor& d = *sockets_.create();
  d.local = local;
  d.listening = true;
  d.backlog_limit = static_cast<std::size_t>(options.backlog);
  listeners_.push_back(&d);
  return &d;
}

result<descriptor*> memory_backend::open_stream(int family) {
  memory_descriptor& d = *sockets_.create();
  raw_address any;
  any.storage.ss_family = static_cast<sa_family_t>(family);
  any.size_bytes = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (family == AF_INET)
    reinterpret_cast<sockaddr_in&>(any.storage).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  d.local = free_address(any);
  return &d;
}

bool memory_backend::start(operation& op) noexcept {
  memory_descriptor* d = op.target == nullptr ? nullptr : &socket_of(op);
  if (op.kind == operation_kind::close) {
    release(*d);
    op.result = 0;
    return true;
  }
  if (attempt(op)) return true;
  const bool reads = op.kind == operation_kind::accept || op.kind == operation_kind::receive;
  (reads ? d->reader : d->writer) = &op;
  ++parked_;
  return false;
}

bool memory_backend::attempt(operation& op) noexcept {
  switch (op.kind) {
    case operation_kind::accept: return accept(socket_of(op), static_cast<accept_operation&>(op));
    case operation_kind::receive:
      return receive(socket_of(op), static_cast<receive_operation&>(op));
    case operation_kind::send: return send(socket_of(op), static_cast<send_operation&>(op));
    case operation_kind::connect:
      return connect(socket_of(op), static_cast<connect_operation&>(op));
    default: op.result = -EOPNOTSUPP; return true;
  }
}

bool memory_backend::accept(memory_descriptor& d, accept_operation& op) noexcept {
  if (d.backlog.empty()) {
    op.result = -EAGAIN;
    return !op.waits;
  }
  op.accepted = d.backlog.front();
  op.result = 0;
  d.backlog.pop_front();
  return true;
}

bool memory_backend::receive(memory_descriptor& d, receive_operation& op) noexcept {
  if (d.unread() == 0) {
    if (!d.inbox_ended) return false;
    op.result = d.reset ? -ECONNRESET : 0;
    return true;
  }
  op.buffer = context_.buffers.acquire();
  if (!op.buffer) {
    op.result = -ENOBUFS;
    return true;
  }
  const std::size_t size = std::min(d.unread(), op.buffer.capacity());
  std::memcpy(op.buffer.data(), d.inbox.data() + d.consumed, size);
  op.buffer.resize(size);
  op.result = static_cast<std::int32_t>(size);
  d.consumed += size;
  if (d.unread() == 0) {
    d.inbox.clear();
    d.consumed = 0;
  }
  if (d.peer != nullptr) retry(d.peer->writer);
  return true;
}

bool memory_backend::send(memory_descriptor& d, send_operation& op) noexcept {
  if (d.peer == nullptr || d.peer->inbox_ended) {
    op.result = -EPIPE;
    return true;
  }
  std::size_t room = pipe_bytes - std::min(pipe_bytes, d.peer->unread());
  if (room == 0) return false;
  const iovec single{.iov_base = const_cast<char*>(op.data), .iov_len = op.size};
  const iovec* part = op.message != nullptr ? op.message->msg_iov : &single;
  const std::size_t parts = op.message != nullptr ? op.message->msg_iovlen : 1;
  op.result = 0;
  for (const iovec* end = part + parts; part != end && room > 0; ++part) {
    const std::size_t size = std::min(part->iov_len, room);
    d.peer->inbox.append(static_cast<const char*>(part->iov_base), size);
    op.result += static_cast<std::int32_t>(size);
    room -= size;
  }
  retry(d.peer->reader);
  return true;
}

bool memory_backend::connect(memory_descriptor& d, connect_operation& op) noexcept {
  raw_address to;
  std::memcpy(&to.storage, op.address, op.address_bytes);
  to.size_bytes = op.address_bytes;
  for (memory_descriptor* listener : listeners_) {
    if (!same_address(listener->local, to) || listener->backlog.size() >= listener->backlog_limit)
      continue;
    memory_descriptor& served = *sockets_.create();
    served.local = to;
    served.remote = d.local;
    d.remote = to;
    served.peer = &d;
    d.peer = &served;
    listener->backlog.push_back(&served);
    retry(listener->reader);
    op.result = 0;
    return true;
  }
  op.result = -ECONNREFUSED;
  return true;
}

void memory_backend::retry(operation*& parked) noexcept {
  if (parked == nullptr) return;
  operation& op = *std::exchange(parked, nullptr);
  --parked_;
  [[maybe_unused]] const bool answered = attempt(op);
  WEFT_ASSERT(answered, "what was waited for has come");
  context_.ready.push(op, priority::normal);
}

void memory_backend::cancel(operation& op) noexcept {
  op.cancelled = true;
  if (op.target == nullptr) return;
  for (operation** place : {&socket_of(op).reader, &socket_of(op).writer}) {
    if (*place != &op) continue;
    *place = nullptr;
    --parked_;
    op.result = -ECANCELED;
    context_.ready.push(op, priority::normal);
  }
}

void memory_backend::end_inbox(memory_descriptor& d, bool reset) noexcept {
  d.inbox_ended = true;
  d.reset = d.reset || reset;
  retry(d.reader);
}

void memory_backend::shutdown_write(descriptor& socket) noexcept {
  auto& d = static_cast<memory_descriptor&>(socket);
  if (d.peer != nullptr) end_inbox(*d.peer, false);
}

void memory_backend::release(memory_descriptor& d) noexcept {
  WEFT_DEBUG_ASSERT(d.reader == nullptr && d.writer == nullptr, "close follows the last answer");
  if (d.listening) std::erase(listeners_, &d);
  for (memory_descriptor* waiting : d.backlog) release(*waiting);
  if (d.peer != nullptr) {
    d.peer->peer = nullptr;
    end_inbox(*d.peer, d.unread() != 0);
    retry(d.peer->writer);
  }
  sockets_.destroy(&d);
}

void memory_backend::enter(time_point until) noexcept {
  if (until == time_point::min() || woken_.exchange(false, std::memory_order_acquire)) return;
  WEFT_ASSERT(until != time_point::max(), "deadlock: every task waits and nothing can wake one");
  now_ = std::max(now_, until);
}

std::unique_ptr<backend> make_memory_backend(backend_context context, time_point start) {
  return std::make_unique<memory_backend>(context, start);
}

}  // namespace weft
