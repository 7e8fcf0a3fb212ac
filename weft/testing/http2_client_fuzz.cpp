// Whatever a server sends over HTTP/2: no crash, nothing left behind, and the client ends when it
// is told to. The input's first byte says how the rest is cut; behind SETTINGS it is sent as it
// stands, to a client that has asked for three things and goes on uploading a fourth.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/client/client.hpp>
#include <weft/http/client/client_stream.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/testing/http_world.hpp>

namespace {

using weft::task;
namespace http = weft::http;

constexpr weft::duration patience = std::chrono::milliseconds{10};

http::client_options of_little_patience() {
  return {.connections_per_host = 2,
          .timeout = patience,
          .head_bytes = 1'000,
          .body_bytes = 10'000,
          .retries = 1,
          .http2 = http::client_http2::always};
}

/// The first connection hears the input, the others nothing.
task<void> serve(weft::net::tcp_listener& listener, weft::event_loop& loop, std::string_view text,
                 std::size_t piece) {
  auto stream = co_await listener.accept();
  if (!stream) co_return;
  weft::testing::http_client peer{std::move(*stream)};
  std::ignore = co_await peer.receive();
  co_await peer.send(std::string_view{"\0\0\0\4\0\0\0\0\0", 9});
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    co_await peer.send(text.substr(0, piece));
    if (piece < 100) std::ignore = co_await weft::sleep_for(loop, std::chrono::microseconds{1});
  }
  std::ignore = co_await weft::sleep_for(loop, patience);
}

task<void> get(http::client& asking, std::string url) { std::ignore = co_await asking.get(url); }

task<void> stream(http::client& asking, std::string url) {
  auto opened = co_await asking.open({http::method::get, url});
  if (!opened) co_return;
  while (co_await opened->read()) {}
}

task<void> upload(http::client& asking, std::string url) {
  auto begun = co_await asking.upload({http::method::put, url});
  for (int i = 0; begun && i < 10; ++i) {
    const auto written = co_await begun->write(std::string(10'000, 'u'));
    if (!written) break;
  }
  if (begun) std::ignore = co_await begun->finish();
}

task<void> ask_all(weft::testing::http_world& world, std::string_view text, std::size_t piece) {
  auto listener = weft::net::tcp_listener::bind(world.loop(), weft::net::endpoint::loopback(0));
  const std::string url = weft::format("http://127.0.0.1:{}/", listener->local_endpoint().port());
  http::client asking{of_little_patience(), world.loop(), world.metrics().shard(0)};
  weft::scope server{co_await weft::this_task::environment()};
  weft::scope clients{co_await weft::this_task::environment()};
  server.spawn(serve(*listener, world.loop(), text, piece));
  for (int i = 0; i < 2; ++i) clients.spawn(get(asking, url));
  clients.spawn(stream(asking, url));
  clients.spawn(upload(asking, url));
  co_await clients.join();
  std::ignore = co_await asking.stop();
  server.request_stop();
  co_await server.join();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  weft::log::set_level(weft::log::level::off);
  const std::size_t frames_before = weft::frame_pool::live_frames();
  {
    weft::testing::http_world world{weft::backend_kind::simulated};
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    world.run([&] { return ask_all(world, text, 1 + data[0] * std::size_t{8}); });
  }
  if (weft::frame_pool::live_frames() != frames_before) std::abort();
  return 0;
}
