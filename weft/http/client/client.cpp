#include <weft/http/client/client.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

#include <weft/base/format.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/client_exchange.hpp>
#include <weft/http/client/redirect.hpp>
#include <weft/http/client/streamed_request.hpp>
#include <weft/http/websocket/client_websocket.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http {
namespace {

/// For a stop() that nobody gave a deadline.
constexpr duration client_stop_time = std::chrono::seconds{10};
/// The next ones are twice as long each.
constexpr duration first_retry_pause = std::chrono::milliseconds{50};
/// Of a redirect's body, so much is read to keep the connection.
constexpr std::size_t redirect_body_most_bytes = 64 * 1024;

template <class T>
using outcome_of = client_exchange::outcome<T>;

/// Where to send it, if it may be sent: views of the URL, or of `room`.
outcome_of<url_parts> admit(const client_core& core, const outgoing_request& asked,
                            std::string& room) {
  const auto refused = [](errc why, std::string message) {
    return std::unexpected{request_fault{why, std::move(message)}};
  };
  if (core.is_stopped) return refused(errc::unavailable, "the client has been stopped");
  if (!asked.bad_field.empty())
    return refused(errc::invalid_argument,
                   weft::format("the field {} is not to be sent: its name is no token or the "
                                "client's own, or its value has a control character",
                                asked.bad_field));
  if (asked.how == method::connect)
    return refused(errc::invalid_argument, "CONNECT asks for a tunnel, not for an answer");
  auto to = read_url(asked.url, room);
  if (!to) return refused(errc::invalid_argument, std::move(to.error()));
  return *to;
}

/// `work` from its beginning to its end, counted.
template <class T, class F>
task<client_result<T>> run_counted(client_core& core, const outgoing_request& asked, F work) {
  core.counts.requests.add();
  core.again.earn();
  std::string room;
  auto to = admit(core, asked, room);
  if (!to) {
    core.counts.failures.add();
    co_return std::unexpected{describe_fault(asked, std::move(to.error()))};
  }
  const time_point began = core.loop.now();
  const client_core::request_under_way now{core, co_await this_task::environment()};
  outcome_of<T> done = co_await work(*to).in(now.env());
  if (done) {
    core.counts.durations.record(core.loop.now() - began);
    if constexpr (std::is_void_v<T>)
      co_return client_result<void>{};
    else
      co_return std::move(*done);
  }
  if (!done.error().answered) core.counts.failures.add();
  co_return std::unexpected{describe_fault(asked, std::move(done.error()))};
}

using exchange_pointer = std::unique_ptr<client_exchange>;

/// Follows the redirect that `exchange` has found, whose connection may be used again then.
task<outcome_of<void>> follow(redirect_trail& trail, client_exchange& exchange) {
  auto stepped = trail.step(exchange.head());
  if (!stepped) co_return stepped;
  for (std::size_t left = redirect_body_most_bytes; left != 0;) {
    const auto piece = co_await exchange.read();
    if (!piece || piece->empty()) break;
    left -= std::min(left, piece->size());
  }
  co_return stepped;
}

/// Whether to ask again, now that the pause before that is over.
task<bool> wait_to_retry(client_core& core, const outgoing_request& asked, bool is_unanswered,
                         unsigned tried) {
  if (!is_unanswered || tried == core.options.retries || !asked.is_repeatable() ||
      !core.again.spend())
    co_return false;
  core.counts.retries.add();
  const duration longest = first_retry_pause * (1U << tried);
  // Clients that failed together are not to come back together.
  const duration pause{core.dice.between(longest.count() / 2, longest.count())};
  const auto waited = co_await sleep_for(core.loop, pause);
  co_return waited.has_value();
}

/// Behind all redirects that are to be followed: an exchange that has its head.
task<outcome_of<exchange_pointer>> reach(client_core& core, redirect_trail& trail) {
  for (unsigned tried = 0;;) {
    auto made = std::make_unique<client_exchange>(core, trail.asked(), trail.to(), core.bounds);
    auto begun = co_await made->begin();
    if (!begun) {
      made.reset();  // nobody is to wait for a connection that this one still has
      const bool again =
          co_await wait_to_retry(core, trail.asked(), begun.error().is_unanswered, tried++);
      if (again) continue;
      co_return std::unexpected{std::move(begun.error())};
    }
    if (!trail.leads_on(made->head())) co_return made;
    auto followed = co_await follow(trail, *made);
    if (!followed) co_return std::unexpected{std::move(followed.error())};
  }
}

task<outcome_of<client_response>> collect(client_core& core, const outgoing_request& asked,
                                          const url_parts& to) {
  redirect_trail trail{asked, to, core.options.redirects};
  auto reached = co_await reach(core, trail);
  if (!reached) co_return std::unexpected{std::move(reached.error())};
  client_exchange& exchange = **reached;
  client_response answer{exchange.head(), exchange.text()};
  for (;;) {
    auto piece = co_await exchange.read();
    if (!piece) co_return std::unexpected{std::move(piece.error())};
    if (piece->empty()) co_return answer;
    answer.append(*piece);
  }
}

errc meaning_of(status answered) noexcept {
  const unsigned number = std::to_underlying(answered);
  if (answered == status::not_found || answered == status::gone) return errc::not_found;
  if (answered == status::request_timeout || answered == status::too_many_requests || number >= 500)
    return errc::unavailable;
  return number >= 400 ? errc::invalid_argument : errc::protocol_error;
}

template <class F>
task<outcome_of<void>> read_with(client_core& core, const outgoing_request& asked,
                                 const url_parts& to, F read) {
  redirect_trail trail{asked, to, core.options.redirects};
  auto reached = co_await reach(core, trail);
  if (!reached) co_return std::unexpected{std::move(reached.error())};
  client_exchange& exchange = **reached;
  const status answered = exchange.head().status();
  std::string room;
  const auto body = co_await exchange.read_all(room);
  if (!body) co_return std::unexpected{body.error()};
  if (std::to_underlying(answered) / 100U != 2)
    co_return std::unexpected{request_fault{
        meaning_of(answered),
        weft::format("answered with {} {}", std::to_underlying(answered), reason_phrase(answered)),
        answered}};
  if (auto wrong = read(*body))
    co_return std::unexpected{request_fault{
        errc::protocol_error,
        weft::format("the answer's body ({} bytes) is not the JSON that was asked for: {}",
                     body->size(), *wrong),
        answered}};
  co_return outcome_of<void>{};
}

}  // namespace

client::client(client_options options, event_loop& loop, telemetry::meter& meter)
    : core_{std::make_unique<client_core>(std::move(options), loop, meter)} {}

client::~client() = default;

task<client_result<client_response>> client::get(owned_text url) {
  const outgoing_request asked{.url = url.view()};
  co_return co_await fetch(asked);
}

task<client_result<client_response>> client::post(owned_text url, std::string body,
                                                  media_type type) {
  return send(client_request{method::post, std::string{url.view()}}.body(std::move(body), type));
}

task<client_result<client_response>> client::send(client_request request) {
  const outgoing_request asked = request.view();
  co_return co_await fetch(asked);
}

task<client_result<client_response>> client::fetch(const outgoing_request& asked) {
  co_return co_await run_counted<client_response>(
      *core_, asked, [&](const url_parts& to) { return collect(*core_, asked, to); });
}

task<client_result<void>> client::fill(const outgoing_request& asked, reader with) {
  const auto read = [with](std::string_view body) { return with.read(with.into, body); };
  co_return co_await run_counted<void>(
      *core_, asked, [&](const url_parts& to) { return read_with(*core_, asked, to, read); });
}

task<client_result<detail::streamed_request_pointer>> client::begin_streaming(
    client_request request, bool is_upload, std::optional<std::uint64_t> length_bytes) {
  detail::streamed_request_pointer made{new detail::streamed_request{*core_, std::move(request)}};
  core_->counts.requests.add();
  made->asked.is_streamed = is_upload;
  made->asked.has_body = made->asked.has_body && !is_upload;
  made->asked.length = length_bytes;
  auto to = admit(*core_, made->asked, made->url_room);
  client_result<void> begun;
  if (to) {
    made->to = *to;
    begun = co_await made->run<void>([is_upload](client_exchange& exchange) {
      return is_upload ? exchange.begin_upload() : exchange.begin();
    });
  } else {
    begun = std::unexpected{describe_fault(made->asked, std::move(to.error()))};
  }
  if (begun) co_return made;
  core_->counts.failures.add();
  co_return std::unexpected{std::move(begun.error())};
}

task<client_result<client_stream>> client::open(client_request request) {
  auto made = co_await begin_streaming(std::move(request), false, std::nullopt);
  if (!made) co_return std::unexpected{std::move(made.error())};
  const client_exchange& exchange = (*made)->exchange;
  client_response head{exchange.head(), exchange.text()};
  co_return client_stream{std::move(*made), std::move(head)};
}

task<client_result<client_upload>> client::upload(client_request request,
                                                  std::optional<std::uint64_t> length_bytes) {
  auto made = co_await begin_streaming(std::move(request), true, length_bytes);
  if (!made) co_return std::unexpected{std::move(made.error())};
  co_return client_upload{std::move(*made)};
}

task<client_result<websocket>> client::open_websocket(client_request request,
                                                      websocket_client_options options) {
  const outgoing_request given = request.view();
  // Of the same shape, and with the same ports, as http and https (RFC 6455 section 3).
  const std::string url = given.url.starts_with("ws://") || given.url.starts_with("wss://")
                              ? "http" + std::string{given.url.substr(2)}
                              : std::string{};
  outgoing_request asked = given;
  asked.url = url;
  using socket_outcome = outcome_of<websocket>;
  const auto describe = [&](request_fault why) {
    core_->counts.failures.add();
    return std::unexpected{describe_fault(given, std::move(why))};
  };
  core_->counts.requests.add();
  if (url.empty() || given.how != method::get || given.has_body)
    co_return describe({errc::invalid_argument,
                        "a WebSocket is opened by a GET without a body, at ws:// or wss://"});
  if (std::string fault = fault_of(options); !fault.empty())
    co_return describe({errc::invalid_argument, std::move(fault)});
  std::string room;
  const auto to = admit(*core_, asked, room);
  if (!to) co_return describe(to.error());
  const client_core::request_under_way now{*core_, co_await this_task::environment()};
  const auto open = [](client_core& core, url_parts where, std::string_view fields,
                       const websocket_client_options& wanted) -> task<socket_outcome> {
    auto stream = co_await core.dialer.dial_through(where);
    if (!stream) co_return std::unexpected{std::move(stream.error())};
    co_return co_await ws::shake_hands(core, std::move(*stream), {.to = where, .fields = fields},
                                       wanted);
  };
  auto done = co_await open(*core_, *to, given.fields, options).in(now.env());
  if (!done) co_return describe(std::move(done.error()));
  co_return std::move(*done);
}

void client::use_cookies(std::shared_ptr<cookie_jar> jar) noexcept {
  core_->cookies = std::move(jar);
}

task<result<void>> client::stop() {
  core_->is_stopped = true;
  core_->close_kept();
  deadline until = (co_await this_task::environment()).until;
  if (until.is_never()) until = deadline::at(core_->loop.now() + client_stop_time);
  const environment patience{.until = until, .runs_on = &core_->loop};
  co_await core_->see_requests_end().in(patience);
  core_->cut_requests();
  const environment to_the_end{.runs_on = &core_->loop};
  co_await core_->see_requests_end().in(to_the_end);
  core_->cut_streams();
  co_await core_->end_sessions().in(to_the_end);
  co_return result<void>{};
}

result<void> client::reload() {
  core_->dialer.reload();
  return {};
}

}  // namespace weft::http
