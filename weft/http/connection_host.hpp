// What the connections of a server share: its routes, its limits, and how it stands.
//
// Contract: internal to http. One belongs to the server of each shard, which fills it and outlives
// its connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/coro/stop_token.hpp>
#include <weft/http/active_request.hpp>
#include <weft/http/date.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/route_table.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/connection_spread.hpp>

namespace weft::http {

class connection;

struct connection_host {
  /// `owner`: the server's lifetime, if it has one.
  connection_host(const http::limits& bounds, event_loop& on, lifetime* owner)
      : limits{bounds},
        loop{on},
        routes{on, limits, owner},
        desk{std::make_unique_for_overwrite<active_request>()} {}

  /// Calls the handler that was found, or replies that there is none.
  void dispatch(const parsed_head& head, const route_match& match, exchange& e) {
    if (match.outcome == route_outcome::found) [[likely]]
      routes.answer(match, e);
    else
      reply_without_route(head, match, e);
  }
  /// Of the route that was found, or else of the server.
  [[nodiscard]] const http::limits& bounds_of(const route_match& match) const noexcept {
    return match.outcome == route_outcome::found ? routes.bounds_of(match) : limits;
  }
  void note_connections() const noexcept {
    if (spread != nullptr) spread->set_load(clients.size());
  }
  void reply_without_route(const parsed_head& head, const route_match& match, exchange& e);

  /// How a reply with 200 begins now.
  [[nodiscard]] const http::reply_start& reply_start() noexcept {
    return dates.at(loop.now(), [this] { return loop.wall_now(); });
  }

  const http::limits limits;
  event_loop& loop;
  /// Requested once the server stops: each reply may be the last.
  stop_token draining;
  /// Requested at the end of the time it has for that: what is left is cut.
  stop_token stopping;
  route_table routes;
  date_cache dates;
  std::vector<connection*> clients;
  /// Where other shards see how many those are, if they are spread evenly.
  net::spread_place* spread = nullptr;
  /// How many of them came beyond the limit, and are only told so.
  std::size_t turned_away = 0;
  /// Where requests are answered that need no waiting, one after the other.
  std::unique_ptr<active_request> desk;
  std::uint64_t requests = 0;
  /// A client that sends no more may still wait for its reply.
  bool serves_half_closed = false;
  /// While it drains: no connection is kept any more for a request that might come.
  bool grace_is_over = false;
};

}  // namespace weft::http
