#include <weft/http/limits.hpp>

namespace weft::http {

route_limits route_limits::over(const route_limits& outer) const {
  const auto choose = [](const auto& own, const auto& other) { return own ? own : other; };
  return {.body_bytes = choose(body_bytes, outer.body_bytes),
          .unread_body_bytes = choose(unread_body_bytes, outer.unread_body_bytes),
          .body_idle_timeout = choose(body_idle_timeout, outer.body_idle_timeout),
          .body_bytes_per_second = choose(body_bytes_per_second, outer.body_bytes_per_second),
          .write_stall_timeout = choose(write_stall_timeout, outer.write_stall_timeout),
          .reply_bytes_per_second = choose(reply_bytes_per_second, outer.reply_bytes_per_second),
          .handler_timeout = choose(handler_timeout, outer.handler_timeout),
          .client_look_interval = choose(client_look_interval, outer.client_look_interval)};
}

limits route_limits::within(limits server) const {
  server.body_bytes = body_bytes.value_or(server.body_bytes);
  server.unread_body_bytes = unread_body_bytes.value_or(server.unread_body_bytes);
  server.body_idle_timeout = body_idle_timeout.value_or(server.body_idle_timeout);
  server.body_bytes_per_second = body_bytes_per_second.value_or(server.body_bytes_per_second);
  server.write_stall_timeout = write_stall_timeout.value_or(server.write_stall_timeout);
  server.reply_bytes_per_second = reply_bytes_per_second.value_or(server.reply_bytes_per_second);
  server.handler_timeout = handler_timeout.value_or(server.handler_timeout);
  server.client_look_interval = client_look_interval.value_or(server.client_look_interval);
  return server;
}

}  // namespace weft::http
