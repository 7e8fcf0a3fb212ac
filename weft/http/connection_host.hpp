// What the connections of a server share: its routes, its limits, and how it stands.
//
// Contract: internal to http. One belongs to the server of each shard, which fills it and outlives
// its connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/http/active_request.hpp>
#include <weft/http/date.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/outer_chain.hpp>
#include <weft/http/request_input.hpp>
#include <weft/http/route_table.hpp>
#include <weft/http/server_counts.hpp>
#include <weft/http/websocket/websocket_counts.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/connection_spread.hpp>

namespace weft::http {

class client_link;

struct connection_host {
  /// `owner_of_server`: its lifetime, if it has one.
  connection_host(const http::limits& bounds, event_loop& on, telemetry::meter& meter,
                  lifetime* owner_of_server)
      : limits{bounds},
        loop{on},
        owner{owner_of_server},
        workers{environment{.runs_on = &on, .owner = owner_of_server}, failure_policy::collect},
        stopping{workers.token()},
        counts{meter},
        websockets{meter, "http_websocket"},
        routes{on, limits, owner_of_server},
        around{on, [this](exchange& e) { answer_inside(e); }},
        desk{std::make_unique_for_overwrite<active_request>()} {}

  /// Calls the handler that was found, or replies that there is none; before that, whoever is
  /// around all.
  void dispatch(const parsed_head& head, const route_match& match, exchange& e) {
    if (!around.empty()) [[unlikely]]
      around.enter(e);
    else
      answer(head, match, e);
  }
  void answer(const parsed_head& head, const route_match& match, exchange& e) {
    if (match.outcome == route_outcome::found) [[likely]]
      routes.answer(match, e);
    else
      reply_without_route(head, match, e);
  }
  /// As answer(), for the innermost of those that are around all.
  void answer_inside(exchange& e);
  /// While a request waits for whom dispatch() has called.
  class [[nodiscard]] use {
   public:
    use(connection_host& in, const route_match& match);
    /// For whom they work: the service of the route, or the server.
    [[nodiscard]] lifetime* owner() const noexcept { return owner_; }

   private:
    std::optional<route_table::use> route_;
    std::optional<outer_chain::use> around_;
    lifetime* owner_;
  };
  /// Of the route that was found, or else of the server.
  [[nodiscard]] const http::limits& bounds_of(const route_match& match) const noexcept {
    return match.outcome == route_outcome::found ? routes.bounds_of(match) : limits;
  }
  /// Whether a body that is announced is refused for its length.
  [[nodiscard]] bool is_too_long(const parsed_head& head, const route_match& match) const {
    return head.content_length().value_or(0) > bounds_of(match).body_bytes &&
           !routes.refuses_sender(match, head.headers());
  }
  void note_connections() noexcept {
    counts.connections.set(static_cast<std::int64_t>(clients.size()));
    if (spread != nullptr) spread->set_load(clients.size());
  }
  void reply_without_route(const parsed_head& head, const route_match& match, exchange& e);
  /// Whether scripts of other sites may read any reply.
  [[nodiscard]] bool has_policies() const noexcept {
    return around.has_policies() || routes.has_policies();
  }
  /// For a reply that is given before any handler is asked: the fields that let scripts of other
  /// sites read it, as lines. Of a head as far as it has come, and of a whole one.
  [[nodiscard]] std::string cors_fields(std::string_view head) const;
  [[nodiscard]] std::string cors_fields(const parsed_head& head) const;
  [[nodiscard]] std::string cors_fields_at(const parsed_head& head, const route_match& match,
                                           exchange& e) const;

  /// Puts an empty one there, for what has come on a connection.
  void lend_input(std::unique_ptr<request_input>& to) {
    to.swap(spare_input);
    if (!to) [[unlikely]]
      to = std::make_unique<request_input>();
  }
  /// Of a connection for which nothing is left in it.
  void take_back(std::unique_ptr<request_input>& from) noexcept {
    if (spare_input) [[unlikely]]
      from.reset();
    else
      from.swap(spare_input);
  }

  /// How a reply with 200 begins now.
  [[nodiscard]] const http::reply_start& reply_start() noexcept {
    return dates.at(loop.now(), [this] { return loop.wall_now(); });
  }

  const http::limits limits;
  event_loop& loop;
  lifetime* const owner;
  /// What is waited for, for a connection or by one.
  scope workers;
  /// Requested once the server stops: each reply may be the last.
  stop_token draining;
  /// Requested at the end of the time it has for that: what is left is cut.
  stop_token stopping;
  server_counts counts;
  websocket_counts websockets;
  route_table routes;
  outer_chain around;
  date_cache dates;
  std::vector<client_link*> clients;
  /// Set when the last of them goes.
  event all_gone;
  /// Where other shards see how many those are, if they are spread evenly.
  net::spread_place* spread = nullptr;
  /// How many of them came beyond the limit, and are only told so.
  std::size_t turned_away = 0;
  /// Where requests are answered that need no waiting, one after the other.
  std::unique_ptr<active_request> desk;
  /// That of such a request, between two; empty while one is answered that has it.
  std::unique_ptr<request_input> spare_input;
  std::uint64_t requests = 0;
  /// A client that sends no more may still wait for its reply.
  bool serves_half_closed = false;
  bool serves_http2 = true;
  /// While it drains: no connection is kept any more for a request that might come.
  bool grace_is_over = false;
};

}  // namespace weft::http
