// weft: /echo gives each message back, /feed gives it to all who are there.
//
//   bench_websocket --http.server.listen=127.0.0.1:9000 --threads 1
#include <weft/http/server.hpp>
#include <weft/http/websocket/topic.hpp>
#include <weft/service/application.hpp>

namespace {

namespace http = weft::http;

class sockets {
 public:
  explicit sockets(http::server& server) {
    server.websocket("/echo", [](http::websocket& peer) -> weft::task<void> {
      while (auto message = co_await peer.read())
        if (!co_await peer.send(*message)) co_return;
    });
    server.websocket("/feed", [this](http::websocket& peer) { return feed(peer); });
  }

 private:
  weft::task<void> feed(http::websocket& peer) {
    const http::subscription to_all{all_, peer};
    while (auto message = co_await peer.read())
      if (!co_await all_.publish(*message)) co_return;
  }

  http::topic all_;
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "A WebSocket server to be timed"}};
  app.add<http::server>();
  app.add<sockets>();
  return app.run();
}
