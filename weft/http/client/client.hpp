// An HTTP/1.1 client: requests to any server, over connections that are kept.
//
// Contract: a service; one a shard, used there alone. A request takes a connection that is kept for
// its scheme, host and port, or makes one; there are at most client_options::connections_per_host,
// and who wants more waits in line. All that a request waits for (the line, the name, the
// connection, TLS, the response) obeys the stop request and the deadline of the task that asks, and
// client_options::timeout. One that is given up closes its connection: no other request is ever
// given what was left of it. Any status is an answer, 404 and 503 as well; where a T is asked for,
// only 2xx with the JSON of a T is. client_error.hpp has the failures.
//
// A request is sent again only where a kept connection turns out to have been closed before a byte
// of its answer came, once, on a new connection, and only if its method is idempotent (GET, HEAD,
// PUT, DELETE, OPTIONS, TRACE). Redirects are followed if client_options::redirects says so. A
// request owns its URL and its body, so its task can be kept and awaited later, or with others. A
// typed GET over a kept connection allocates nothing but what the T does, as long as its response
// comes in 4 KiB.
//
// stop() refuses new requests and waits for those under way until its deadline (ten seconds, if
// there is none), then cuts them, and closes what is left of streams.
//
//   explicit report(http::client& http) ...
//   auto page = co_await http.get("http://127.0.0.1:8080/");         // page->status(), ->body()
//   auto user = co_await http.get<account>("https://api.example/users/7");
//   if (!user) log::warning(user.error().message());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/owned_text.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/client/client_error.hpp>
#include <weft/http/client/client_options.hpp>
#include <weft/http/client/client_request.hpp>
#include <weft/http/client/client_response.hpp>
#include <weft/http/client/client_stream.hpp>
#include <weft/http/websocket/websocket.hpp>
#include <weft/http/websocket/websocket_options.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

namespace weft {
class event_loop;
}

namespace weft::telemetry {
class meter;
}

namespace weft::http {

struct client_core;

class cookie_jar;

class client {
 public:
  using options = client_options;

  /// `meter`: of the shard; client_counts.hpp says what is counted.
  client(client_options options, event_loop& loop, telemetry::meter& meter);
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  [[nodiscard]] task<client_result<client_response>> get(owned_text url);
  [[nodiscard]] task<client_result<client_response>> post(owned_text url, std::string body,
                                                          media_type type);
  [[nodiscard]] task<client_result<client_response>> send(client_request request);

  /// The body of a 2xx, as JSON.
  template <class T>
  [[nodiscard]] task<client_result<T>> get(owned_text url) {
    const outgoing_request asked{.url = url.view(), .fields = accept_json};
    co_return co_await ask_for<T>(asked);
  }
  /// `body` is sent as JSON, which is made of it at the call.
  template <class T, class Body>
  [[nodiscard]] task<client_result<T>> post(owned_text url, const Body& body) {
    char room[1024];
    std::string large;
    const std::string_view text = weft::json::write_into(body, room, large);
    owned_text small = large.empty() ? owned_text{text} : owned_text{};
    return post_json<T>(std::move(url), std::move(small), std::move(large));
  }
  template <class T>
  [[nodiscard]] task<client_result<T>> send(client_request request) {
    const outgoing_request asked = request.view();
    co_return co_await ask_for<T>(asked);
  }

  /// Waits for the head of the response; its body is read piece by piece, and has no limit.
  [[nodiscard]] task<client_result<client_stream>> open(client_request request);
  /// Sends the head of a request whose body is written piece by piece. `length_bytes`: of all of
  /// it, if that is known; else it goes in chunks. It is not sent twice, whatever its method.
  [[nodiscard]] task<client_result<client_upload>> upload(
      client_request request, std::optional<std::uint64_t> length_bytes = std::nullopt);

  /// Opens a WebSocket at a ws:// or wss:// URL: as requests, over a connection of its own, by TLS
  /// and through proxies. `request` is a GET, with the fields that are to be sent besides
  /// (Authorization, Origin ...). What the server refuses has its status in answered().
  [[nodiscard]] task<client_result<websocket>> open_websocket(
      client_request request, websocket_client_options options = {});
  [[nodiscard]] task<client_result<websocket>> open_websocket(
      owned_text url, websocket_client_options options = {}) {
    return open_websocket(client_request{method::get, std::string{url.view()}}, std::move(options));
  }

  /// Stores the cookies of responses in `jar`, and sends them with each request that has no Cookie
  /// field of its own. Empty: stops. Clients of one shard may share a jar.
  void use_cookies(std::shared_ptr<cookie_jar> jar) noexcept;

  /// Twice is once, and whoever asks again waits for the same end.
  [[nodiscard]] task<result<void>> stop();
  /// Has the files of `tls` read again before the next handshake. An application calls it on
  /// SIGHUP.
  result<void> reload();

 private:
  static constexpr std::string_view accept_json = "Accept: application/json\r\n";
  static constexpr std::string_view json_both_ways =
      "Accept: application/json\r\nContent-Type: application/json\r\n";

  /// Where a body is read into: what is wrong with it, if anything is.
  struct reader {
    void* into;
    std::optional<std::string> (*read)(void* into, std::string_view body);
  };
  template <class T>
  static std::optional<std::string> read_json(void* into, std::string_view body) {
    const auto read = weft::json::read_into(*static_cast<T*>(into), body);
    return read ? std::nullopt : std::optional{read.error().message()};
  }
  /// The body is the one of the two texts that is not empty.
  template <class T>
  task<client_result<T>> post_json(owned_text url, owned_text small, std::string large) {
    const outgoing_request asked{.how = method::post,
                                 .url = url.view(),
                                 .fields = json_both_ways,
                                 .body = large.empty() ? small.view() : std::string_view{large},
                                 .has_body = true};
    co_return co_await ask_for<T>(asked);
  }
  template <class T>
  task<client_result<T>> ask_for(const outgoing_request& asked) {
    client_result<T> answer{};
    auto read = co_await fill(asked, {&*answer, &read_json<T>});
    if (!read) co_return std::unexpected{std::move(read.error())};
    co_return answer;
  }
  task<client_result<void>> fill(const outgoing_request& asked, reader with);
  task<client_result<detail::streamed_request_pointer>> begin_streaming(
      client_request request, bool is_upload, std::optional<std::uint64_t> length_bytes);
  task<client_result<client_response>> fetch(const outgoing_request& asked);

  std::unique_ptr<client_core> core_;
};

}  // namespace weft::http
