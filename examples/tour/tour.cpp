// The 60-second tour: JSON in, JSON out, on every core's own loop.
//
//   tour &
//   curl -d '{"sequence": 2}' http://127.0.0.1:8080/ping
#include <cstdint>

#include <weft/http/server.hpp>
#include <weft/service/application.hpp>

struct ping {
  std::int64_t sequence;
};

struct ping_api {
  explicit ping_api(weft::http::server& http) {  // injected: the one constructor says what it needs
    http.post("/ping", [](ping p) { return p; });  // JSON in, JSON out
  }
};

int main(int argc, char** argv) {
  weft::application app{argc, argv};
  app.add<weft::http::server>({.listen = "127.0.0.1:8080"});
  app.add<ping_api>();
  return app.run();
}
