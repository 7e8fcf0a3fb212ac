// Whatever a client sends over HTTP/2: no crash, nothing left behind, and the server ends when it
// is told to. The input's first byte says how the rest is cut; behind the preface and SETTINGS it
// is sent as it stands.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include <weft/base/log.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http_world.hpp>

namespace {

using weft::result;
using weft::task;
namespace http = weft::http;

constexpr weft::duration soon = std::chrono::milliseconds{10};

http::server_options within_little() {
  http::server_options options{.drain_idle = weft::duration::zero()};
  options.limits.head_bytes = 1'000;
  options.limits.body_bytes = 10'000;
  options.limits.http2 = {.concurrent_streams = 5,
                          .stream_window_bytes = 1'000,
                          .connection_window_bytes = 65'535,
                          .resets_per_second = 2,
                          .idle_frames_per_second = 5};
  return options;
}

void add_routes(http::server& to, weft::event_loop& loop) {
  to.get("/", [] { return "here"; });
  to.post("/", [](const http::request& r) { return std::string{r.body()}; });
  to.get("/l", [&loop]() -> task<std::string> {
    std::ignore = co_await weft::sleep_for(loop, soon);
    co_return std::string(5'000, 'x');
  });
  to.websocket("/w", [](http::websocket& socket) -> task<void> {
    while (const auto message = co_await socket.read())
      if (!co_await socket.send(*message)) co_return;
  });
  to.post("/e", [](http::body_reader& in, http::body_writer& out) -> task<result<void>> {
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
}

task<void> send_all(weft::testing::http_world& world, std::string_view text, std::size_t piece) {
  auto client = co_await world.connect();
  co_await client.send(http::http2::client_preface);
  co_await client.send(std::string_view{"\0\0\0\4\0\0\0\0\0", 9});
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    co_await client.send(text.substr(0, piece));
    if (piece < 100) co_await world.sleep(std::chrono::microseconds{1});
  }
  co_await world.sleep(soon * 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  weft::log::set_level(weft::log::level::off);
  const std::size_t frames_before = weft::frame_pool::live_frames();
  {
    weft::testing::http_world world{weft::backend_kind::simulated, within_little()};
    add_routes(world.server(), world.loop());
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    world.run([&] { return send_all(world, text, 1 + data[0] * std::size_t{8}); });
  }
  if (weft::frame_pool::live_frames() != frames_before) std::abort();
  return 0;
}
