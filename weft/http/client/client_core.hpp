// What the parts of a client share: its options, its origins, and the requests under way.
//
// Contract: internal to http; the client owns it. Outlives all requests and connections.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <weft/base/hash_map.hpp>
#include <weft/base/intrusive_list.hpp>
#include <weft/base/random.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/client/client_counts.hpp>
#include <weft/http/client/client_dialer.hpp>
#include <weft/http/client/client_options.hpp>
#include <weft/http/client/origin_pool.hpp>
#include <weft/http/client/retry_budget.hpp>
#include <weft/http/client/url.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/websocket/websocket_counts.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::http {

class cookie_jar;
class header_list;

/// A request whose body, or that of its response, somebody reads or writes piece by piece.
struct open_stream {
  void (*cut)(open_stream&) noexcept;  // gives its connection back; nothing waits for it
  list_hook hook{};
};

struct client_core {
  /// A request from its beginning to its end, and what its waits obey: the caller, the client's
  /// stop, and the earlier of two deadlines.
  class request_under_way {
   public:
    request_under_way(client_core& of, const environment& caller) noexcept;
    request_under_way(const request_under_way&) = delete;
    request_under_way& operator=(const request_under_way&) = delete;
    ~request_under_way();
    [[nodiscard]] const environment& env() const noexcept { return env_; }

   private:
    friend client_core;
    client_core& core_;
    stop_source stop_;
    environment env_;
    list_hook hook_;
  };

  client_core(client_options given, event_loop& on, telemetry::meter& meter);
  client_core(const client_core&) = delete;
  client_core& operator=(const client_core&) = delete;
  ~client_core();

  [[nodiscard]] origin_pool& origin_of(const url_parts& to);
  /// It has neither connections nor anybody who waits.
  void forget(origin_pool& origin) noexcept;

  /// The Cookie line that the jar has for a request; empty: none, or `fields` have one already.
  [[nodiscard]] std::string cookie_line(const url_parts& to, std::string_view fields);
  /// Stores what a response sets.
  void take_cookies(const url_parts& from, const header_list& headers);

  void close_kept();
  void cut_requests() noexcept;
  void cut_streams() noexcept;
  [[nodiscard]] task<void> see_requests_end();
  /// Sessions of HTTP/2, from their beginning to their end.
  void count_session(int change) noexcept;
  /// Nobody holds them any more.
  [[nodiscard]] task<void> end_sessions();

  event_loop& loop;
  client_options options;
  limits bounds;         // of responses
  limits stream_bounds;  // of those that are read piece by piece: any body
  client_counts counts;
  websocket_counts websockets;
  client_dialer dialer;
  std::shared_ptr<cookie_jar> cookies;  // none: cookies are ignored
  retry_budget again;
  random dice;  // for how long to wait before
  intrusive_list<open_stream, &open_stream::hook> streams;
  scope workers;  // of sessions
  bool is_stopped = false;

 private:
  hash_map<std::string_view, std::unique_ptr<origin_pool>> origins_;  // by their names
  intrusive_list<request_under_way, &request_under_way::hook_> requests_;
  event last_has_ended_;
  int sessions_ = 0;
  event last_session_has_ended_;
};

}  // namespace weft::http
