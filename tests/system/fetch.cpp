// Asks servers that are not ours: each URL in turn, a line of JSON for what became of it.
//
//   fetch --fetch.urls=http://127.0.0.1:8080/,http://127.0.0.1:8080/other --http.client.timeout=2s
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/http/client/client.hpp>
#include <weft/json/write.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/application.hpp>

namespace {

namespace http = weft::http;

struct fetch_options {
  std::vector<std::string> urls{};
  std::string method = "GET";
  /// Sent with each request; empty: none is.
  std::string body{};
  /// A field of the answers that is told.
  std::string field = "Content-Type";
};

struct outcome {
  std::string url;
  unsigned status = 0;  // 0: no answer
  std::string field{};
  std::uint64_t bytes = 0;
  std::string body{};  // its first kilobyte
  std::string error{};
};

class fetch {
 public:
  using options = fetch_options;

  fetch(fetch_options options, http::client& client, weft::event_loop& loop)
      : wanted_{std::move(options)}, client_{client}, work_{{.runs_on = &loop}} {}

  weft::task<weft::result<void>> start() {
    work_.spawn(ask_all());
    co_return weft::result<void>{};
  }
  weft::task<weft::result<void>> stop() {
    work_.request_stop();
    co_await work_.join();
    co_return weft::result<void>{};
  }

 private:
  weft::task<void> ask_all() {
    for (const std::string& url : wanted_.urls) {
      std::string line;
      weft::json::write(co_await ask(url), line);
      std::puts(line.c_str());
    }
    std::fflush(stdout);
    ::raise(SIGTERM);
  }

  weft::task<outcome> ask(std::string url) {
    http::client_request request{http::parse_method(wanted_.method).value_or(http::method::get),
                                 url};
    if (!wanted_.body.empty()) request.body(wanted_.body);
    const auto answer = co_await client_.send(std::move(request));
    if (!answer) co_return outcome{.url = url, .error = answer.error().message()};
    co_return outcome{.url = url,
                      .status = std::to_underlying(answer->status()),
                      .field = std::string{answer->header(wanted_.field).value_or("")},
                      .bytes = answer->body().size(),
                      .body = std::string{answer->body().substr(0, 1024)}};
  }

  fetch_options wanted_;
  http::client& client_;
  weft::scope work_;
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Asks servers that are not ours"}};
  app.add<http::client>();
  app.add<fetch>();
  return app.run();
}
