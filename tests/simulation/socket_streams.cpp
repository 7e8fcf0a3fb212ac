#include "socket_streams.hpp"

#include <chrono>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/loop/sleep.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/testing/http2_client.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using testing::http2_client;

// Masked by nothing.
constexpr std::string_view text_frame = "\x81\x85\0\0\0\0hello"sv;
constexpr std::string_view ping_frame = "\x89\x81\0\0\0\0?"sv;
constexpr std::string_view close_frame = "\x88\x82\0\0\0\0\x03\xe8"sv;
constexpr std::string_view no_frame = "\xff\xff\xff\xff"sv;

/// What may come of one of them in a round.
void go_on_with(http2_client& client, std::int32_t id, random& dice) {
  switch (dice.below(12)) {
    case 0: return client.give(id, close_frame, true);
    case 1: return client.give(id, {}, true);
    case 2: return client.reset(id);
    case 3: return client.give(id, text_frame.substr(0, dice.below(text_frame.size())), false);
    case 4: return client.give(id, no_frame, false);
    case 5: return client.give(id, ping_frame, false);
    default: return client.give(id, text_frame, false);
  }
}

task<void> speak(random& dice, net::tcp_stream connection, std::uint64_t& opened) {
  http2_client client{std::move(connection),
                      {.stream_window_bytes = dice.chance(1, 2) ? 100U : 65'535U}};
  const http2_client::fields asked{{":method", "CONNECT"}, {":protocol", "websocket"},
                                   {":scheme", "http"},    {":path", "/"},
                                   {":authority", "one"},  {"sec-websocket-version", "13"}};
  std::vector<std::int32_t> all;
  for (std::uint64_t count = 1 + dice.below(4); count != 0; --count)
    all.push_back(client.begin_with(asked, false));
  for (std::uint64_t rounds = dice.below(30); rounds != 0; --rounds) {
    go_on_with(client, all[dice.below(all.size())], dice);
    const bool goes_on = co_await client.turn();
    if (!goes_on) break;
  }
  for (const std::int32_t id : all) opened += client.so_far(id).status == 200 ? 1 : 0;
}

}  // namespace

task<void> leave_sockets_of_http2(event_loop& loop, random& dice, net::endpoint server,
                                  std::uint64_t most, std::uint64_t& opened) {
  const environment own = co_await this_task::environment();
  while (opened < most && !own.stop.stop_requested()) {
    environment patience = own;
    patience.until = deadline::at(loop.now() + draw_duration(dice, 100ms) + 1ms);
    auto connection = co_await net::tcp_stream::connect(loop, server).in(patience);
    if (connection) co_await speak(dice, std::move(*connection), opened).in(patience);
    std::ignore = co_await sleep_for(loop, draw_duration(dice, 10ms) + 1ms);
  }
}

}  // namespace weft::simulation
