#include <weft/http/server.hpp>

#include <array>
#include <deque>
#include <format>
#include <optional>
#include <stdexcept>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/date.hpp>
#include <weft/http/router.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/address_book.hpp>
#include <weft/net/tcp_listener.hpp>

namespace weft::http {

struct server::state final : connection_host {
  state(server_options given, event_loop& on, net::address_book& book)
      : connection_host{given.limits},
        options{std::move(given)},
        loop{on},
        addresses{book},
        workers{environment{.runs_on = &on}} {
    stopping = workers.token();
  }

  void dispatch(const parsed_head& head, const route_match& match, exchange& e) override;
  static void reply_allowed(exchange& e, status code, method_set allowed);
  std::string_view date() noexcept override { return dates.at(loop.now()); }
  task<void> accept_all();
  void admit(net::tcp_stream stream);

  server_options options;
  event_loop& loop;
  net::address_book& addresses;
  std::deque<handler> handlers;  // their tasks refer to them: none ever moves
  date_cache dates;
  scope workers;
  std::optional<net::tcp_listener> listener;
};

void server::state::dispatch(const parsed_head& head, const route_match& match, exchange& e) {
  if (head.form() == target_form::asterisk) {
    reply_allowed(e, status::no_content, routes.allowed_anywhere());
    return;
  }
  switch (match.outcome) {
    case route_outcome::found: handlers[match.payload](e); break;
    case route_outcome::not_found:
      e.reply_problem(status::not_found, "nothing is served at this path");
      break;
    case route_outcome::method_not_allowed:
      reply_allowed(e, status::method_not_allowed, match.allowed);
      break;
    case route_outcome::options: reply_allowed(e, status::no_content, match.allowed); break;
  }
}

void server::state::reply_allowed(exchange& e, status code, method_set allowed) {
  std::array<char, method_set::text_capacity> room;
  const std::string line = std::format("Allow: {}\r\n", allowed.text(room));
  if (is_bodiless(code))
    e.reply(code, {}, {}, line);
  else
    e.reply_problem(code, "this path is served, but not for this method", line);
}

task<void> server::state::accept_all() {
  bool full = false;
  for (;;) {
    auto stream = co_await listener->accept();
    if (!stream) {
      if (!stopping.stop_requested())
        log::error(std::format("accepting on {} ends: {}", listener->local_endpoint().to_string(),
                               stream.error().message()));
      break;
    }
    if (open >= limits.connections) {
      if (!std::exchange(full, true))
        log::warning(std::format("{} connections are open, the limit: more are refused", open));
      connection::turn_away(*this, *stream);
      continue;
    }
    full = false;
    try {
      admit(std::move(*stream));
    } catch (const std::exception& why) {
      log::error(std::format("a connection is dropped: {}", why.what()));
    }
  }
  // Whoever comes while the others are being answered is refused, and may go to another server.
  listener.reset();
}

void server::state::admit(net::tcp_stream stream) {
  auto client = std::make_unique<connection>(*this, loop, std::move(stream), workers.inherited());
  const environment& env = client->env();
  workers.spawn_in(env, connection::run(std::move(client)));
}

server::server(server_options options, event_loop& loop, net::address_book& addresses)
    : state_{std::make_unique<state>(std::move(options), loop, addresses)} {}

server::~server() = default;

server& server::route(method which, std::string_view pattern, handler answer) {
  const auto number = static_cast<std::uint32_t>(state_->handlers.size());
  if (const auto added = state_->routes.add(which, pattern, number); !added)
    throw std::invalid_argument{added.error()};
  state_->handlers.push_back(std::move(answer));
  return *this;
}

result<void> server::start() {
  auto listener =
      state_->addresses.listen(state_->loop, state_->options.listen, state_->options.backlog);
  if (!listener) return fail(listener.error());
  state_->listener.emplace(std::move(*listener));
  state_->workers.spawn(state_->accept_all());
  return {};
}

task<result<void>> server::stop() {
  state_->workers.request_stop();
  co_await state_->workers.join();
  co_return result<void>{};
}

net::endpoint server::local_endpoint() const {
  WEFT_ASSERT(state_->listener.has_value(), "a server has an address from start() to stop()");
  return state_->listener->local_endpoint();
}

std::size_t server::connections() const noexcept { return state_->open; }

std::uint64_t server::requests() const noexcept { return state_->requests; }

}  // namespace weft::http
