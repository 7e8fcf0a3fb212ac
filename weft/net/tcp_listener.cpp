#include <weft/net/tcp_listener.hpp>

#include <sys/resource.h>

#include <cerrno>
#include <string>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::net {
namespace {

constexpr duration accept_pause = std::chrono::milliseconds{100};
constexpr duration said_again_after = std::chrono::minutes{1};

class accept_wait : public operation_awaiter<accept_operation> {
 public:
  accept_wait(event_loop& loop, descriptor* listener, bool waits) noexcept
      : operation_awaiter{loop, listener} {
    operation_.waits = waits;
  }
  [[nodiscard]] result<descriptor*> await_resume() const noexcept {
    if (operation_.result < 0) return fail(operation_.failure());
    return operation_.accepted;
  }
};

/// Whether accept() says that the socket is none it could ever give a connection from, rather than
/// that there is something the matter now: too few descriptors, or a policy that forbids this one.
bool listens_no_more(error why) noexcept {
  switch (why.os_errno()) {
    case EBADF:
    case EINVAL:
    case ENOTSOCK:
    case EOPNOTSUPP: return true;
    default: return false;
  }
}

/// Out of memory, what was accepted is closed, and that is an error like any other.
result<tcp_stream> stream_of(event_loop& loop, descriptor& socket) noexcept {
  try {
    return tcp_stream{loop, socket};
  } catch (const std::bad_alloc&) {
    loop.io().abandon(socket);
    return fail(error{errc::exhausted, ENOMEM});
  }
}

void log_pause(const endpoint& where, error why) {
  rlimit limit{};
  // Fails for no argument that is given here.
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::string line = weft::format("accepting on {} pauses: {}", where.to_string(), why.message());
  if (why == errc::exhausted)
    line += weft::format("; this process may open {} files (see `ulimit -n`)", limit.rlim_cur);
  log::warning(line);
}

}  // namespace

result<tcp_listener> tcp_listener::bind(event_loop& loop, const endpoint& where,
                                        const listen_options& options) {
  const auto socket = loop.io().listen(where.raw(), options);
  if (!socket) return fail(socket.error());
  return tcp_listener{loop, **socket, options.lent};
}

task<result<tcp_stream>> tcp_listener::accept() { return accept_one(true); }

task<result<tcp_stream>> tcp_listener::accept_waiting() {
  if (lent_) co_return fail(errc::closed);
  co_return co_await accept_one(false);
}

task<result<tcp_stream>> tcp_listener::accept_one(bool waits) {
  for (;;) {
    const auto accepted = co_await accept_wait{*loop_, socket_, waits};
    auto stream = accepted ? stream_of(*loop_, **accepted) : fail(accepted.error());
    if (stream) co_return std::move(*stream);
    const error why = stream.error();
    if (why.os_errno() == EAGAIN) co_return fail(errc::closed);
    const bool passes = why == errc::exhausted || (waits && !listens_no_more(why));
    if (why == errc::cancelled || why == errc::timed_out || !passes) co_return fail(why);
    if (loop_->now() >= quiet_until_) {
      quiet_until_ = loop_->now() + said_again_after;
      log_pause(local_endpoint(), why);
    }
    if (auto slept = co_await sleep_for(*loop_, accept_pause); !slept)
      co_return fail(slept.error());
  }
}

void tcp_listener::close() noexcept {
  if (socket_ != nullptr) loop_->io().abandon(*std::exchange(socket_, nullptr));
}

endpoint tcp_listener::local_endpoint() const {
  return endpoint{loop_->io().local_address(*socket_).value_or(raw_address{})};
}

}  // namespace weft::net
