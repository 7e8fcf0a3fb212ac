#include <weft/http/websocket/server_websocket.hpp>

#include <exception>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log_parts.hpp>

namespace weft::http::ws {

/// An idle one takes so much with its stream and a small handler, as measured.
constexpr std::size_t own_bytes = std::size_t{2} * 1024;

server_websocket::server_websocket(const session_terms& terms, connection_host& host,
                                   const route_match& match)
    : session{terms},
      registration{&on_service_end},
      host_{host},
      memory_{host.loop.memory().hold(memory_kind::connections, own_bytes)},
      route_{host.routes, match},
      stop_{host.stopping},
      env_{.stop = stop_.token(), .runs_on = &host.loop, .owner = route_.owner()},
      socket_{*this} {
  join(host);
}

void server_websocket::begin(upgraded_link link) noexcept {
  if (env_.owner != nullptr) env_.owner->attach(*this);
  session::begin(std::move(link));
  if (host_.draining.stop_requested()) say_goodbye();
  if (stop_.stop_requested()) session::cut();
  host_.workers.spawn(std::move(*running_));
  running_.reset();
}

task<void> server_websocket::run() {
  try {
    co_await std::move(*work_).in(env_);
  } catch (const std::exception& why) {
    log::error_of({"handler of a WebSocket threw: ", why.what()});
    start_close(close_code::internal_error, {});
  } catch (...) {
    log::error("handler of a WebSocket threw an exception of unknown type");
    start_close(close_code::internal_error, {});
  }
  work_.reset();
  const websocket over = std::move(socket_);  // whose end may be this one's
}

std::string server_websocket::description() const {
  const auto peer = link().is_open() ? link().peer_endpoint() : fail(errc::closed);
  return weft::format("{} speaks WebSocket", peer ? peer->to_string() : "a client");
}

void server_websocket::on_service_end(registration& self) noexcept {
  static_cast<server_websocket&>(self).say_goodbye();
}

}  // namespace weft::http::ws
