#include <weft/net/tcp_listener.hpp>

#include <sys/resource.h>

#include <format>

#include <weft/base/log.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::net {
namespace {

constexpr duration accept_pause = std::chrono::milliseconds{100};

class accept_wait : public operation_awaiter<accept_operation> {
 public:
  accept_wait(event_loop& loop, descriptor* listener) noexcept
      : operation_awaiter{loop, listener} {}
  [[nodiscard]] result<descriptor*> await_resume() const noexcept {
    if (operation_.result < 0) return fail(wait_.failure(operation_));
    return operation_.accepted;
  }
};

void log_pause(const endpoint& where, error why) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  log::warning(
      std::format("accepting on {} pauses: {}; this process may open {} files (see `ulimit -n`)",
                  where.to_string(), why.message(), limit.rlim_cur));
}

}  // namespace

result<tcp_listener> tcp_listener::bind(event_loop& loop, const endpoint& where,
                                        const listen_options& options) {
  const auto socket = loop.io().listen(where.raw(), options);
  if (!socket) return fail(socket.error());
  return tcp_listener{loop, **socket};
}

task<result<tcp_stream>> tcp_listener::accept() {
  for (;;) {
    const auto accepted = co_await accept_wait{*loop_, socket_};
    if (accepted) {
      paused_ = false;
      co_return tcp_stream{*loop_, **accepted};
    }
    if (accepted.error() != errc::exhausted) co_return fail(accepted.error());
    if (!std::exchange(paused_, true)) log_pause(local_endpoint(), accepted.error());
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
