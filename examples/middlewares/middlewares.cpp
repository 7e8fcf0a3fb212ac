// What holds for many routes, said once: where they are, what bounds them, and who looks first.
//
//   middlewares --listen 127.0.0.1:8084
//   curl http://127.0.0.1:8084/open/ann
//   curl -i http://127.0.0.1:8084/club/ann                            says who may come in
//   curl -H 'Authorization: me' http://127.0.0.1:8084/club/ann
//   curl http://127.0.0.1:8084/stats                                  how often it was asked
//
// With --club.watchers=3 each of three looks at all that is answered, what has no route included;
// with --club.timed each reply says how long it took, in Server-Timing.
#include <cstdint>
#include <string>

#include <weft/http/server.hpp>
#include <weft/http/server_timing.hpp>
#include <weft/service/application.hpp>

namespace {

namespace http = weft::http;

struct counts {
  std::uint64_t asked = 0;
  std::uint64_t admitted = 0;
  std::uint64_t watched = 0;
};

struct club_options {
  unsigned watchers = 0;
  bool timed = false;
};

class club {
 public:
  using options = club_options;

  club(club_options chosen, http::server& server) {
    for (unsigned i = 0; i < chosen.watchers; ++i)
      server.wrap_all([this](http::exchange& e, http::handler& next) {
        ++counts_.watched;
        next(e);
      });
    if (chosen.timed) server.wrap_all(http::server_timing{});
    const auto greet = [](const http::request& asked) {
      return std::string{*asked.parameter("name")} + ", welcome!\n";
    };
    server.get("/open/{name}", greet);
    server.get("/stats", [this] { return counts_; });
    server.group("/club")
        .within({.handler_timeout = std::chrono::seconds{2}})
        .wrap([this](http::exchange& e, http::handler& next) {
          ++counts_.asked;
          next(e);
        })
        .wrap([](http::exchange& e, http::handler& next) {
          if (e.request().header("authorization")) return next(e);
          e.reply_problem(http::status::unauthorized, "say who you are: send `Authorization`");
        })
        .wrap([this](http::exchange& e, http::handler& next) {
          ++counts_.admitted;
          next(e);
        })
        .get("/{name}", greet);
  }

 private:
  counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Greets members, and counts them"}};
  http::server_options server{.listen = "127.0.0.1:8084"};
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<http::server>(server);
  app.add<club>();
  return app.run();
}
