#include <weft/loop/make_backend.hpp>

#include <atomic>
#include <string>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/epoll/epoll_backend.hpp>
#include <weft/loop/needed_calls.hpp>
#include <weft/loop/sim/sim_backend.hpp>
#include <weft/loop/uring/uring_backend.hpp>

namespace weft {
namespace {

/// Once a program at info: what holds for the first shard holds for all.
void log_choice(std::string_view name, std::string_view reason) {
  static std::atomic<bool> said{false};
  const log::level level = said.exchange(true) ? log::level::debug : log::level::info;
  if (log::enabled(level)) log::write(level, weft::format("event loop on {} ({})", name, reason));
}

/// What cannot be done without, whatever the backend.
std::unexpected<error> give_up(std::string_view backend, const refused_call& refused) {
  log::error(
      weft::format("no event loop{} can work here: the system refuses {}; a policy of the "
                   "container (seccomp) may forbid that call",
                   backend, refused.message()));
  return fail(error::from_errno(refused.code));
}

result<std::unique_ptr<backend>> make_epoll(backend_context context) {
  if (const auto refused = find_refused_call(calls_of::epoll))
    return give_up(" on epoll", *refused);
  auto made = make_epoll_backend(context);
  if (!made) log::error(weft::format("epoll is not to be had: {}", made.error().message()));
  return made;
}

}  // namespace

result<std::unique_ptr<backend>> make_backend(backend_kind kind, backend_context context,
                                              sim_host* host) {
  if (kind == backend_kind::simulated) return make_sim_backend(context, host);
  if (const auto refused = find_refused_call(calls_of::every_loop)) return give_up("", *refused);
  if (kind == backend_kind::epoll) {
    auto made = make_epoll(context);
    if (made) log_choice("epoll", "as asked");
    return made;
  }
  std::string why;
  auto made = make_uring_backend(context, why);
  if (made) {
    log_choice("io_uring", why);
    return made;
  }
  if (kind == backend_kind::io_uring) {
    log::error(weft::format("io_uring is not to be had: {}", why));
    return made;
  }
  auto fallback = make_epoll(context);
  if (fallback) log_choice("epoll", weft::format("io_uring is not to be had: {}", why));
  return fallback;
}

std::string_view to_string(backend_kind kind) noexcept {
  switch (kind) {
    case backend_kind::automatic: return "auto";
    case backend_kind::io_uring: return "io_uring";
    case backend_kind::epoll: return "epoll";
    case backend_kind::simulated: return "simulated";
  }
  return "auto";
}

result<backend_kind> parse_backend(std::string_view name) noexcept {
  for (const auto kind : {backend_kind::automatic, backend_kind::io_uring, backend_kind::epoll,
                          backend_kind::simulated})
    if (to_string(kind) == name) return kind;
  return fail(errc::invalid_argument);
}

}  // namespace weft
