// A TCP echo server: what arrives goes back, without a copy.
//
//   echo --listen 127.0.0.1:8000
//   ab -n 100000 -c 1000 -k http://127.0.0.1:8000/       (ab takes its own request for a reply)
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <weft/base/bounds.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/address_book.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/service/application.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/service/logger.hpp>

namespace {

weft::task<void> echo(weft::net::tcp_stream stream) {
  while (auto bytes = co_await stream.read())                  // a buffer_ref: no copy
    if (!co_await stream.write(std::move(*bytes))) co_return;  // gives the buffer on
}

struct echo_options {
  std::string listen;
  /// Of a shard. One more is closed at once.
  std::size_t connections = 10'000;
  /// Of a connection: nobody keeps one for ever.
  weft::duration lifetime = std::chrono::minutes{10};

  static constexpr auto bounds() {
    return weft::bounds(weft::at_least<&echo_options::connections>(1),
                        weft::at_least<&echo_options::lifetime>(std::chrono::milliseconds{1}));
  }
};

class echo_server {
 public:
  using options = echo_options;

  echo_server(echo_options options, weft::event_loop& loop, weft::net::address_book& addresses,
              weft::lifetime& own, weft::logger& log)
      : options_{std::move(options)}, loop_{loop}, addresses_{addresses}, own_{own}, log_{log} {}

  weft::result<void> start() {
    auto listener = addresses_.listen(loop_, options_.listen);
    if (!listener) return weft::fail(listener.error());
    own_.spawn(accept(std::move(*listener)));
    return {};
  }

 private:
  weft::task<void> accept(weft::net::tcp_listener listener) {
    for (;;) {
      auto stream = co_await listener.accept();
      if (!stream) {
        if (stream.error() != weft::errc::cancelled)  // not asked to stop
          log_.error("accepting has ended: {}", stream.error().message());
        co_return;
      }
      // What leaves a task of the service, such as std::bad_alloc, is logged, and others go on.
      if (connections_ == options_.connections) continue;
      ++connections_;
      own_.spawn(serve(std::move(*stream)));
    }
  }

  weft::task<void> serve(weft::net::tcp_stream stream) {
    const counted_down at_the_end{connections_};
    co_await weft::with_timeout(options_.lifetime, echo(std::move(stream)));
  }

  struct counted_down {
    explicit counted_down(std::size_t& of) : number{of} {}
    counted_down(const counted_down&) = delete;
    counted_down& operator=(const counted_down&) = delete;
    ~counted_down() { --number; }
    std::size_t& number;
  };

  echo_options options_;
  weft::event_loop& loop_;
  weft::net::address_book& addresses_;
  weft::lifetime& own_;
  weft::logger& log_;
  std::size_t connections_ = 0;
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
