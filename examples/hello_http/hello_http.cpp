// The smallest HTTP server: one route, one line of text. Serves kept connections and one-request
// ones alike.
//
//   hello_http --listen 127.0.0.1:8082
//   wrk -t 1 -c 1000 -d 10s http://127.0.0.1:8082/
#include <weft/http/server.hpp>
#include <weft/service/application.hpp>

namespace {

struct hello {
  explicit hello(weft::http::server& http) {
    http.get("/", [] { return "Hello, World!"; });
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Says hello over HTTP"}};
  weft::http::server_options options{.listen = "127.0.0.1:8082"};
  app.options().option("--listen", options.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<weft::http::server>(options);
  app.add<hello>();
  return app.run();
}
