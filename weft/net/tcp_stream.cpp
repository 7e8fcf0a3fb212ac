#include <weft/net/tcp_stream.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include <weft/loop/file.hpp>
#include <weft/net/tls_state.hpp>

namespace weft::net {
namespace {

class connect_wait : public operation_awaiter<connect_operation> {
 public:
  connect_wait(event_loop& loop, descriptor* socket, const raw_address& to) noexcept
      : operation_awaiter{loop, socket, to.get(), to.size_bytes} {}
  [[nodiscard]] result<void> await_resume() const noexcept {
    if (operation_.result < 0) return fail(operation_.failure());
    return {};
  }
};

/// Closing cannot be called off: it heeds neither stop requests nor deadlines.
class close_wait : private close_operation {
 public:
  close_wait(event_loop& loop, descriptor& socket) noexcept
      : close_operation{&socket, &closed}, loop_{loop} {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    return !loop_.start(*this);
  }
  void await_resume() const noexcept {}

 private:
  static void closed(operation& op) noexcept {
    weft::detail::resume(static_cast<close_wait&>(op).waiting_);
  }
  event_loop& loop_;
  std::coroutine_handle<> waiting_;
};

/// The socket is closed where there is no memory for its stream.
tcp_stream open_over(event_loop& loop, descriptor& socket) {
  try {
    return tcp_stream{loop, socket};
  } catch (const std::bad_alloc&) {
    loop.io().abandon(socket);
    throw;
  }
}

}  // namespace

task<result<tcp_stream>> tcp_stream::connect(event_loop& loop, endpoint to) {
  const auto socket = loop.io().open_stream(to.family());
  if (!socket) co_return fail(socket.error());
  const auto connected = co_await connect_wait{loop, *socket, to.raw()};
  tcp_stream stream = open_over(loop, **socket);
  if (!connected) co_return fail(connected.error());
  co_return stream;
}

result<tcp_stream> tcp_stream::adopt(event_loop& loop, std::unique_ptr<loose_socket> loose) {
  const auto socket = loop.io().adopt(std::move(loose));
  if (!socket) return fail(socket.error());
  return open_over(loop, **socket);
}

std::unique_ptr<loose_socket> tcp_stream::loosen() {
  auto loose = state_->loop().io().loosen(state_->socket());
  std::exchange(state_, nullptr)->closed();
  return loose;
}

task<result<std::size_t>> tcp_stream::read(std::span<char> into) {
  auto bytes = co_await read();
  if (!bytes) co_return fail(bytes.error());
  const std::size_t size = std::min(bytes->size(), into.size());
  std::copy_n(bytes->data(), size, into.data());
  bytes->remove_prefix(size);
  if (!bytes->empty()) state_->unread = std::move(*bytes);
  co_return size;
}

std::size_t tcp_stream::send_from(const file& from, std::uint64_t offset,
                                  std::size_t size_bytes) noexcept {
  if (state_->is_secured() || !state_->queue().empty() || size_bytes == 0) return 0;
  const auto sent = state_->loop().io().send_file(state_->socket(), from.fd(), offset, size_bytes);
  return static_cast<std::size_t>(std::max<std::int64_t>(sent, 0));
}

task<result<void>> tcp_stream::shutdown() {
  auto flushed = co_await flush();
  if (flushed) state_->end_output();
  co_return flushed;
}

task<result<void>> tcp_stream::close() {
  const auto flushed = co_await flush();
  if (flushed && state_->is_secured()) state_->end_output();
  detail::stream_state* state = std::exchange(state_, nullptr);
  if (state->sending() || state->reading()) {
    state->abandon();
  } else {
    co_await close_wait{state->loop(), state->socket()};
    state->closed();
  }
  co_return flushed;
}

result<endpoint> tcp_stream::local_endpoint() const {
  return state_->loop().io().local_address(state_->socket()).transform([](const raw_address& a) {
    return endpoint{a};
  });
}

result<endpoint> tcp_stream::peer_endpoint() const {
  return state_->loop().io().peer_address(state_->socket()).transform([](const raw_address& a) {
    return endpoint{a};
  });
}

result<peer_credentials> tcp_stream::peer() const {
  const auto local = local_endpoint();
  if (!local || local->family() != AF_UNIX) return fail(errc::unsupported);
  ucred known{};
  socklen_t size = sizeof known;
  if (::getsockopt(state_->socket().fd, SOL_SOCKET, SO_PEERCRED, &known, &size) != 0)
    return fail(error::from_errno(errno));
  return peer_credentials{.pid = known.pid, .uid = known.uid, .gid = known.gid};
}

const tls_info* tcp_stream::tls() const noexcept {
  return state_->is_secured() ? &state_->secured().info() : nullptr;
}

}  // namespace weft::net
