#include <weft/loop/epoll/epoll_backend.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/loop/datagram_calls.hpp>
#include <weft/loop/epoll/datagram_attempts.hpp>
#include <weft/loop/epoll/descriptor_table.hpp>
#include <weft/loop/epoll/event_wait.hpp>
#include <weft/loop/epoll/file_threads.hpp>
#include <weft/loop/epoll/file_watches.hpp>
#include <weft/loop/epoll/held_sends.hpp>
#include <weft/loop/epoll/plain_calls.hpp>
#include <weft/loop/epoll/stream_attempts.hpp>
#include <weft/loop/kernel_clock.hpp>
#include <weft/loop/socket_calls.hpp>
#include <weft/loop/starved_line.hpp>

namespace weft {
namespace {

constexpr std::uint32_t edge_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

}  // namespace

class epoll_backend final : public backend {
 public:
  epoll_backend(backend_context context, int epoll_fd, int wake_fd) noexcept
      : context_{context},
        epoll_{epoll_fd},
        wake_{wake_fd},
        watches_{context.ready, epoll_fd},
        files_{wake_fd} {}
  ~epoll_backend() override;

  std::string_view name() const noexcept override { return "epoll"; }
  time_point now() const noexcept override { return kernel_clock::now(); }
  result<descriptor*> listen(const raw_address& address, const listen_options& options) override;
  result<descriptor*> open_stream(int family) override { return add(open_stream_socket(family)); }
  result<descriptor*> open_datagram(int family, const datagram_options& options) override {
    return add(open_datagram_socket(family, options));
  }
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
  bool has_input(descriptor& socket) noexcept override { return bytes_wait(socket.fd); }
  peer_state state_of_peer(const descriptor& of) const noexcept override { return peer_at(of.fd); }
  std::size_t unacknowledged_bytes(const descriptor& of) const noexcept override {
    return unacknowledged_at(of.fd);
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
    release(static_cast<epoll_descriptor&>(socket));
  }
  bool quiescent() const noexcept override { return parked_ == 0 && files_.count() == 0; }
  std::vector<waiting_operation> waiting_operations() override {
    std::vector<waiting_operation> all;
    const auto note = [&](const operation& op, int fd) { all.push_back({op.kind, fd}); };
    sockets_.for_each_waiting(note);
    for (const send_operation* op : held_.all()) note(*op, op->target->fd);
    files_.for_each_waiting(note);
    watches_.for_each_waiting(note);
    return all;
  }
  [[nodiscard]] bool has_to_hand_over() const noexcept override { return !held_.empty(); }
  void enter(time_point until) noexcept override;
  int poll_descriptor() noexcept override { return epoll_; }
  void wake() noexcept override { signal_wake(wake_); }

 private:
  static epoll_descriptor& socket_of(operation& op) noexcept {
    return static_cast<epoll_descriptor&>(*op.target);
  }
  static void perform(runnable& self) noexcept;
  [[gnu::noinline]] bool start_send(send_operation& op) noexcept;
  [[gnu::noinline]] bool hold(send_operation& op) noexcept;
  [[gnu::noinline]] void send_held() noexcept;
  [[gnu::noinline]] bool start_other(operation& op) noexcept;
  result<descriptor*> add(result<int> fd);
  [[nodiscard]] epoll_descriptor* insert(int fd) noexcept;
  void release(epoll_descriptor& d) noexcept;
  bool attempt(operation& op) noexcept;
  [[gnu::noinline]] bool attempt_accept(accept_operation& op) noexcept;
  bool attempt_receive(receive_operation& op) noexcept;
  [[gnu::noinline]] bool attempt_receive_datagrams(receive_datagrams_operation& op) noexcept;
  void park(operation& op) noexcept;
  void answer(operation& op, int result, priority band = priority::normal) noexcept;
  void unpark(operation*& parked) noexcept;
  void on_edge(std::uint64_t tag, std::uint32_t events) noexcept;
  [[gnu::noinline]] void on_file(int fd, std::uint32_t events) noexcept;
  [[gnu::noinline]] void feed_starved() noexcept;

  backend_context context_;
  int epoll_;
  int wake_;
  descriptor_table sockets_;
  file_watches watches_;
  starved_line<epoll_descriptor, &epoll_descriptor::starved> starved_;
  std::size_t parked_ = 0;  // operations that wait for an edge, a buffer or other sends
  held_sends held_;
  event_wait wait_;
  file_threads files_;
};

epoll_backend::~epoll_backend() {
  sockets_.for_each([](epoll_descriptor& d) { ::close(d.fd); });
  ::close(wake_);
  ::close(epoll_);
}

result<descriptor*> epoll_backend::add(result<int> fd) {
  if (!fd) return fail(fd.error());
  epoll_descriptor* const added = insert(*fd);
  if (added == nullptr) return fail(error{errc::exhausted, ENOMEM});
  epoll_descriptor& d = *added;
  d.owner = this;
  epoll_event interest{.events = edge_events, .data = {.u64 = d.tag}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, *fd, &interest) != 0) {
    const error why = error::from_errno(errno);
    release(d);
    return fail(why);
  }
  return &d;
}

/// nullptr: there is no memory for it, and it is closed.
epoll_descriptor* epoll_backend::insert(int fd) noexcept {
  try {
    return &sockets_.insert(fd);
  } catch (const std::bad_alloc&) {
    ::close(fd);
    return nullptr;
  }
}

void epoll_backend::release(epoll_descriptor& d) noexcept {
  WEFT_DEBUG_ASSERT(d.reader == nullptr && d.writer == nullptr, "close follows the last answer");
  ::close(d.fd);
  sockets_.erase(d);
}

std::unique_ptr<loose_socket> epoll_backend::loosen(descriptor& socket) {
  auto loose = std::make_unique<loose_file>(socket.fd);
  // What stays in the set has a tag that no socket has: its events are passed over.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket.fd, nullptr);
  sockets_.erase(static_cast<epoll_descriptor&>(socket));
  return loose;
}

result<descriptor*> epoll_backend::listen(const raw_address& address,
                                          const listen_options& options) {
  auto added = add(open_listener(address, options));
  if (added) static_cast<epoll_descriptor*>(*added)->readable = true;
  return added;
}

/// Tail calls only: who just waits for an edge saves no registers.
bool epoll_backend::start(operation& op) noexcept {
  if (op.kind == operation_kind::send) return start_send(static_cast<send_operation&>(op));
  if (op.kind != operation_kind::receive || socket_of(op).readable) return start_other(op);
  park(op);
  return false;
}

bool epoll_backend::receive_now(receive_operation& op) noexcept {
  return socket_of(op).readable && context_.buffers.has_free() && attempt_receive(op);
}

bool epoll_backend::start_send(send_operation& op) noexcept {
  epoll_descriptor& d = socket_of(op);
  if (d.writable && !context_.ready.empty()) return hold(op);
  if (weft::attempt(d, op)) return true;
  park(op);
  return false;
}

/// What start() says of it. Apart from who sends at once, whom it would cost registers.
bool epoll_backend::hold(send_operation& op) noexcept {
  ++parked_;
  if (held_.push(op)) send_held();
  return false;
}

/// Their answers go before what else is ready: the buffers that they give back are what that
/// receives into.
void epoll_backend::send_held() noexcept {
  for (send_operation* const op : held_.take()) {
    --parked_;
    if (weft::attempt(socket_of(*op), *op))
      answer(*op, op->result, priority::high);
    else if (op->cancelled)
      answer(*op, -ECANCELED);
    else
      park(*op);
  }
}

bool epoll_backend::start_other(operation& op) noexcept {
  if (op.kind == operation_kind::close) {
    release(socket_of(op));
    op.result = 0;
    return true;
  }
  if (op.kind > operation_kind::connect)
    return op.kind == operation_kind::file ? files_.start(static_cast<file_operation&>(op))
                                           : watches_.start(static_cast<poll_operation&>(op));
  if (attempt(op)) return true;
  park(op);
  return false;
}

/// True: answered. False: it must wait for an edge.
[[gnu::always_inline]] inline bool epoll_backend::attempt(operation& op) noexcept {
  if (op.kind == operation_kind::receive) [[likely]]
    return attempt_receive(static_cast<receive_operation&>(op));
  if (op.kind == operation_kind::send)
    return weft::attempt(socket_of(op), static_cast<send_operation&>(op));
  if (op.kind == operation_kind::accept) return attempt_accept(static_cast<accept_operation&>(op));
  if (op.kind == operation_kind::receive_datagrams)
    return attempt_receive_datagrams(static_cast<receive_datagrams_operation&>(op));
  if (op.kind == operation_kind::send_datagrams)
    return weft::attempt(socket_of(op), static_cast<send_datagrams_operation&>(op));
  return weft::attempt(socket_of(op), static_cast<connect_operation&>(op));
}

bool epoll_backend::attempt_accept(accept_operation& op) noexcept {
  epoll_descriptor& listener = socket_of(op);
  if (!listener.readable && op.waits) return false;
  const int fd = accept_connection(listener.fd);
  listener.readable = fd != -EAGAIN;
  if (fd == -EAGAIN && op.waits) return false;
  op.result = std::min(fd, 0);
  if (fd < 0) return true;
  const auto added = add(fd);
  if (added)
    op.accepted = *added;
  else
    op.result = -added.error().os_errno();
  return true;
}

[[gnu::always_inline]] inline bool epoll_backend::attempt_receive(receive_operation& op) noexcept {
  epoll_descriptor& d = socket_of(op);
  if (!d.readable) return false;
  if (std::uint32_t slot = 0; !op.buffer) {
    if (!context_.buffers.take(slot)) [[unlikely]] {
      starved_.push(d);
      return false;
    }
    op.buffer = context_.buffers.adopt(slot, 0);
  }
  const std::size_t room = op.buffer.capacity();
  ssize_t got = 0;
  do got = plain_calls::receive(d.fd, op.buffer.data(), room);
  while (got < 0 && errno == EINTR);
  if (got > 0) {
    // A short read has emptied the socket, unless the end of the stream is behind it.
    if (static_cast<std::size_t>(got) < room && !d.hung_up) d.readable = false;
    op.buffer.resize(static_cast<std::size_t>(got));
    op.result = static_cast<std::int32_t>(got);
    return true;
  }
  op.buffer.reset();
  if (got < 0 && errno == EAGAIN) {
    d.readable = false;
    return false;
  }
  op.result = got == 0 ? 0 : -errno;
  return true;
}

bool epoll_backend::attempt_receive_datagrams(receive_datagrams_operation& op) noexcept {
  const bool answered = weft::attempt(socket_of(op), op, context_.buffers);
  if (op.result == -ENOBUFS) starved_.push(socket_of(op));
  return answered;
}

void epoll_backend::park(operation& op) noexcept {
  epoll_descriptor& d = socket_of(op);
  const bool reads = op.kind == operation_kind::accept || op.kind == operation_kind::receive ||
                     op.kind == operation_kind::receive_datagrams;
  operation*& place = reads ? d.reader : d.writer;
  WEFT_DEBUG_ASSERT(place == nullptr, "one operation a direction at a time");
  place = &op;
  ++parked_;
}

void epoll_backend::answer(operation& op, int result, priority band) noexcept {
  op.result = result;
  op.run = &operation::deliver;
  context_.ready.push(op, band);
}

/// The edge has come: the system call is made when the operation's turn in the ready queue comes.
void epoll_backend::unpark(operation*& parked) noexcept {
  operation& op = *std::exchange(parked, nullptr);
  --parked_;
  op.run = &perform;
  context_.ready.push(op, priority::normal);
}

void epoll_backend::perform(runnable& self) noexcept {
  auto& op = static_cast<operation&>(self);
  epoll_backend& backend = *socket_of(op).owner;
  if (backend.attempt(op)) {
    operation::deliver(op);
  } else if (op.cancelled) {
    backend.starved_.forget(socket_of(op));
    backend.answer(op, -ECANCELED);
  } else {
    backend.park(op);
  }
}

void epoll_backend::cancel(operation& op) noexcept {
  op.cancelled = true;
  if (op.kind == operation_kind::readable || op.kind == operation_kind::writable)
    return watches_.cancel(static_cast<poll_operation&>(op));
  if (op.kind == operation_kind::file) {
    if (files_.withdraw(static_cast<file_operation&>(op))) answer(op, -ECANCELED);
    return;
  }
  epoll_descriptor& d = socket_of(op);
  for (operation** place : {&d.reader, &d.writer}) {
    if (*place != &op) continue;
    *place = nullptr;
    --parked_;
    if (place == &d.reader) starved_.forget(d);
    answer(op, -ECANCELED);
  }
}

void epoll_backend::on_edge(std::uint64_t tag, std::uint32_t events) noexcept {
  epoll_descriptor* d = sockets_.find(tag);
  if (d == nullptr) return;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) d->hung_up = true;
  if ((events & readable_events) != 0) {
    d->readable = true;
    if (d->reader != nullptr && !d->starved.is_linked()) unpark(d->reader);
  }
  if ((events & writable_events) != 0) {
    d->writable = true;
    if (d->writer != nullptr) unpark(d->writer);
  }
}

void epoll_backend::feed_starved() noexcept {
  starved_.feed([this] { return context_.buffers.acquire(); },
                [&](epoll_descriptor& d, buffer_ref&& buffer) {
                  give_buffer(*d.reader, std::move(buffer));
                  unpark(d.reader);
                });
}

void epoll_backend::enter(time_point until) noexcept {
  if (!starved_.empty() || !held_.empty()) {
    feed_starved();
    send_held();
    if (!context_.ready.empty()) until = time_point::min();
  }
  event_wait::events events;
  const int count = wait_(epoll_, events, until);
  for (const epoll_event& event : std::span{events}.first(static_cast<std::size_t>(count)))
    if (names_file(event.data.u64)) [[unlikely]]
      on_file(file_of(event.data.u64), event.events);
    else
      on_edge(event.data.u64, event.events);
}

void epoll_backend::on_file(int fd, std::uint32_t events) noexcept {
  if (fd != wake_) return watches_.on_event(fd, events);
  drain_wake(wake_);
  if (files_.count() != 0) files_.reap(context_.ready);
}

result<std::unique_ptr<backend>> make_epoll_backend(backend_context context) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return fail(error::from_errno(errno));
  const auto wake = open_wake_descriptor();
  if (!wake) {
    ::close(epoll);
    return fail(wake.error());
  }
  epoll_event interest{.events = EPOLLIN, .data = {.u64 = tag_of_file(*wake)}};
  epoll_event none{};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, *wake, &interest) != 0 ||
      (plain_calls::wait(epoll, &none, 1, 0) < 0 && errno != EINTR)) {
    const error why = error::from_errno(errno);
    ::close(*wake);
    ::close(epoll);
    return fail(why);
  }
  return std::make_unique<epoll_backend>(context, epoll, *wake);
}

}  // namespace weft
