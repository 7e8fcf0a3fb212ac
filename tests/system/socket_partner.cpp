// The other end of conversations over WebSockets with programs that are not ours: a server that
// gives back what it gets, and a client that gives back what the Autobahn test suite sends it.
//
//   socket_partner --http.server.listen=127.0.0.1:0
//   socket_partner --http.server.listen=127.0.0.1:0 --partner.suite=ws://127.0.0.1:9001
#include <signal.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/client/client.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/application.hpp>

namespace {

namespace http = weft::http;

/// Cases of Autobahn go up to 16 MiB.
constexpr http::websocket_limits wide{.message_bytes = 64UZ << 20U,
                                      .ping_interval = std::chrono::minutes{5}};

weft::task<void> give_back(http::websocket& socket) {
  while (auto message = co_await socket.read())
    if (!co_await socket.send(*message)) co_return;
}

struct partner_options {
  /// Where the suite's server listens; empty: there is none.
  std::string suite{};
  std::string agent = "weft";
  /// From the first to the last; 0: all.
  unsigned first = 1;
  unsigned last = 0;
  http::websocket_compression compression = http::websocket_compression::single;
};

class partner {
 public:
  using options = partner_options;

  partner(partner_options options, http::server& server, http::client& client,
          weft::event_loop& loop)
      : wanted_{std::move(options)}, client_{client}, work_{{.runs_on = &loop}} {
    server.websocket("/", &give_back, {.origins = {"*"}, .limits = wide});
    server.websocket("/single", &give_back,
                     {.subprotocols = {"partner"},
                      .compression = http::websocket_compression::single,
                      .limits = wide});
    server.websocket("/context", &give_back,
                     {.compression = http::websocket_compression::context, .limits = wide});
  }

  weft::task<weft::result<void>> start() {
    if (!wanted_.suite.empty()) work_.spawn(run_suite());
    co_return weft::result<void>{};
  }
  weft::task<weft::result<void>> stop() {
    work_.request_stop();
    co_await work_.join();
    co_return weft::result<void>{};
  }

 private:
  weft::task<weft::http::client_result<http::websocket>> open(std::string path) {
    co_return co_await client_.open_websocket(wanted_.suite + path,
                                              {.compression = wanted_.compression, .limits = wide});
  }

  weft::task<unsigned> count_cases() {
    auto socket = co_await open("/getCaseCount");
    if (!socket) co_return 0;
    unsigned count = 0;
    if (auto said = co_await socket->read())
      std::from_chars(said->data.data(), said->data.data() + said->data.size(), count);
    std::ignore = co_await socket->close();
    co_return count;
  }

  weft::task<void> run_suite() {
    const unsigned count = co_await count_cases();
    const unsigned last = wanted_.last == 0 ? count : wanted_.last;
    for (unsigned at = wanted_.first; at <= last; ++at) {
      auto socket = co_await open(weft::format("/runCase?case={}&agent={}", at, wanted_.agent));
      if (!socket)
        std::printf("case %u: %s\n", at, socket.error().message().c_str());
      else
        co_await give_back(*socket);
    }
    auto report = co_await open("/updateReports?agent=" + wanted_.agent);
    if (report)
      while (auto rest = co_await report->read()) {}
    ::raise(SIGTERM);
  }

  partner_options wanted_;
  http::client& client_;
  weft::scope work_;
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv};
  app.add<http::server>();
  app.add<http::client>();
  app.add<partner>();
  return app.run();
}
