// A TCP echo server: what arrives goes back, without a copy.
//
//   echo --listen 127.0.0.1:8000
//   ab -n 100000 -c 1000 -k http://127.0.0.1:8000/       (ab takes its own request for a reply)
#include <string>

#include <weft/coro/scope.hpp>
#include <weft/net/address_book.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/service/application.hpp>

namespace {

weft::task<void> echo(weft::net::tcp_stream stream) {
  while (auto bytes = co_await stream.read())                  // a buffer_ref: no copy
    if (!co_await stream.write(std::move(*bytes))) co_return;  // gives the buffer on
}

struct echo_options {
  std::string listen;
};

class echo_server {
 public:
  using options = echo_options;

  echo_server(echo_options options, weft::event_loop& loop, weft::net::address_book& addresses)
      : options_{std::move(options)}, loop_{loop}, addresses_{addresses} {}

  weft::result<void> start() {
    auto listener = addresses_.listen(loop_, options_.listen);
    if (!listener) return weft::fail(listener.error());
    clients_.spawn(accept(std::move(*listener)));
    return {};
  }

  weft::task<weft::result<void>> stop() {
    clients_.request_stop();
    co_await clients_.join();
    co_return weft::result<void>{};
  }

 private:
  weft::task<void> accept(weft::net::tcp_listener listener) {
    while (auto stream = co_await listener.accept()) clients_.spawn(echo(std::move(*stream)));
  }

  echo_options options_;
  weft::event_loop& loop_;
  weft::net::address_book& addresses_;
  weft::scope clients_{{.runs_on = &loop_}};
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Sends back what it receives"}};
  echo_options options{.listen = "127.0.0.1:8000"};
  app.options().option("--listen", options.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "echo_server.listen");
  app.add<echo_server>(options);
  return app.run();
}
