// weft: /echo gives each message back, /feed gives it to all who are there.
//
//   bench_websocket --http.server.listen=127.0.0.1:9000 --threads 1
#include <weft/http/server.hpp>
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
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "A WebSocket server to be timed"}};
  app.add<http::server>();
  app.add<sockets>();
  return app.run();
}
