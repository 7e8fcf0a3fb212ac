// Prices that one shard makes and all shards tell: fan-out to any number of browsers. Who reads too
// slowly misses prices, and is right again with the next.
//
//   ticker --market.period 20ms                        then open http://127.0.0.1:8080/
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/random.hpp>
#include <weft/http/server.hpp>
#include <weft/http/websocket/topic.hpp>
#include <weft/json/write.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>
#include <weft/service/event_bus.hpp>
#include <weft/service/lifetime.hpp>

namespace http = weft::http;

constexpr std::string_view page = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Ticker</title>
<style>
  body { font: 16px system-ui; margin: 2rem; } td { padding: .2rem 1rem; }
  td + td { text-align: right; font-variant-numeric: tabular-nums; }
  .up { color: #087f23; } .down { color: #b00020; }
</style>
<table id="prices"></table><p><output id="ticks">0</output> ticks</p>
<script>
  const cells = new Map();
  const cellOf = (symbol) => {
    if (!cells.has(symbol)) {
      const row = document.getElementById('prices').insertRow();
      row.insertCell().textContent = symbol;
      cells.set(symbol, row.insertCell());
    }
    return cells.get(symbol);
  };
  const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ticks`);
  socket.onmessage = (message) => {
    const tick = JSON.parse(message.data);
    for (const {symbol, cents} of tick.quotes) {
      const cell = cellOf(symbol);
      const price = cents / 100;
      cell.className = price < Number(cell.textContent) ? 'down' : 'up';
      cell.textContent = price.toFixed(2);
    }
    document.getElementById('ticks').value = tick.number;
  };
  socket.onclose = (end) => document.body.append(`The end: ${end.code} ${end.reason}`);
</script></html>
)";

struct quote {
  std::string_view symbol;
  std::int64_t cents;
};
struct tick {
  std::uint64_t number;
  std::vector<quote> quotes;
};

/// The same, as all who listen are sent it. Heard on every shard.
struct tick_text {
  std::string json;
};

struct market_options {
  weft::duration period = std::chrono::milliseconds{100};

  static consteval auto bounds() {
    return weft::bounds(weft::at_least<&market_options::period>(std::chrono::milliseconds{1}));
  }
};

/// The only one: it is where prices come from.
class market {
 public:
  using options = market_options;

  market(market_options options, weft::event_loop& loop, weft::event_bus& events,
         weft::lifetime& own)
      : options_{options}, loop_{loop}, events_{events} {
    for (const std::string_view symbol : symbols) last_.quotes.push_back({symbol, 10'000});
    own.spawn(trade());
  }

 private:
  static constexpr std::array<std::string_view, 8> symbols{"WARP", "WEFT", "LOOM", "REED",
                                                           "YARN", "SILK", "WOOL", "FLAX"};

  // A tick is due a period after the last one was, so that none drifts.
  weft::task<void> trade() {
    weft::time_point due = loop_.now();
    while (co_await weft::sleep_until{loop_, due += options_.period}) {
      for (quote& each : last_.quotes) each.cents += chance_.between(-20, 20);
      ++last_.number;
      tick_text told;
      weft::json::write(last_, told.json);
      events_.publish(std::move(told), weft::to_all_shards);
    }
  }

  market_options options_;
  weft::event_loop& loop_;
  weft::event_bus& events_;
  weft::random chance_{1};
  tick last_{};
};

/// One a shard, with those who are connected to that.
class feed {
 public:
  feed(http::server& server, weft::event_bus& events) {
    events.on<tick_text>([this](const tick_text& t) { (void)ticks_.publish_now(t.json); });
    server.get("/",
               [] { return http::response{http::status::ok, http::text_html, std::string{page}}; });
    server.websocket("/ticks", [this](http::websocket& socket) { return follow(socket); });
  }

 private:
  weft::task<void> follow(http::websocket& socket) {
    const http::subscription to_ticks{ticks_, socket};
    while (auto message = co_await socket.read()) {}
  }

  http::topic ticks_{{.policy = http::slow_reader::drop, .queued_bytes = 16 * 1024}};
};

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Prices, told to whoever listens"}};
  http::server_options server;
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<http::server>(server);
  app.add<weft::event_bus>();
  app.add<market>().single();
  app.add<feed>();
  return app.run();
}
