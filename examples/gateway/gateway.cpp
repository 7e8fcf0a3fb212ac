// A service that asks another one: what it is asked for, it fetches by HTTP, as a plain struct.
//
//   tour &                                             serves on 127.0.0.1:8080
//   gateway --listen 127.0.0.1:8081 --gateway.upstream=http://127.0.0.1:8080
//   curl http://127.0.0.1:8081/ping/2                  {"sequence":2}
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <weft/http/client/client.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/application.hpp>
#include <weft/service/logger.hpp>

struct ping {
  std::int64_t sequence = 0;
};

struct gateway_options {
  /// Who is asked: scheme, host and port.
  std::string upstream = "http://127.0.0.1:8080";
};

class gateway {
 public:
  using options = gateway_options;

  gateway(gateway_options options, weft::http::server& server, weft::http::client& client,
          weft::event_loop& loop, weft::logger& log)
      : pings_{std::move(options.upstream) + "/ping"}, client_{client}, loop_{loop}, log_{log} {
    server.get("/ping/{sequence}",
               [this](weft::http::path<ping> wanted) { return fetch(*wanted); });
  }

 private:
  weft::task<weft::result<ping>> fetch(ping wanted) {
    auto answer = co_await client_.post<ping>(pings_, wanted);
    if (answer) co_return *answer;
    log_failure(answer.error().message());
    co_return weft::fail(answer.error());
  }

  /// Once a second: a service that is down must not fill the disk here.
  void log_failure(const std::string& what) {
    ++failures_;
    const weft::time_point now = loop_.now();
    if (now < quiet_until_) return;
    log_.warning("{} ({} failed since the last line)", what, std::exchange(failures_, 0U));
    quiet_until_ = now + std::chrono::seconds{1};
  }

  std::string pings_;
  weft::http::client& client_;
  weft::event_loop& loop_;
  weft::logger& log_;
  weft::time_point quiet_until_ = weft::time_point::min();
  unsigned failures_ = 0;
};

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Asks another service what it is asked"}};
  weft::http::server_options server{.listen = "127.0.0.1:8081"};
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<weft::http::server>(server);
  app.add<weft::http::client>();
  app.add<gateway>();
  return app.run();
}
