#include "rdrs_server.hpp"

#include <string>

#include <weft/base/format.hpp>
#include <weft/http/server.hpp>
#include <weft/json/lent.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>
#include <weft/service/application.hpp>

#include "rdrs_documents.hpp"
#include "rdrs_rules.hpp"
#include "rdrs_summary.hpp"
#include "rdrs_table.hpp"

template <class Text>
struct glz::meta<rdrs::operation_of<Text>> {
  using type = rdrs::operation_of<Text>;
  static constexpr auto value = glz::object("method", &type::method, "relative-url",
                                            &type::relative_url, "body", &type::body);
};

namespace weft::bench {
namespace {

/// One a shard; what a request is read into stays for the next one.
class rdrs_api {
 public:
  explicit rdrs_api(http::server& server) {
    server.get("/ping", [] { return "OK"; });
    add(server, "/walk", &rdrs_api::walk);
    add(server, "/read", &rdrs_api::summarise);
    add(server, "/check", &rdrs_api::check);
    add(server, "/write", &rdrs_api::write);
    add(server, "/rows", &rdrs_api::look_up);
  }

 private:
  using answer = void (rdrs_api::*)(http::exchange&);

  void add(http::server& server, std::string_view path, answer given) {
    server.route(http::method::post, path, [this, given](http::exchange& e) {
      reply_.clear();
      (this->*given)(e);
    });
  }

  void walk(http::exchange& e) {
    if (auto done = json::read_lent(lent_, e.request().body(), keeper_); !done)
      return e.reply(done.error());
    rdrs::summary_of(lent_).append_to(reply_);
    send(e);
  }
  void summarise(http::exchange& e) {
    if (!read(e)) return;
    rdrs::summary_of(batch_).append_to(reply_);
    send(e);
  }
  void check(http::exchange& e) {
    if (!read(e)) return;
    if (const std::string_view fault = rdrs::fault_of(batch_); !fault.empty())
      return e.reply_problem(http::status::bad_request, fault);
    rdrs::summary_of(batch_).append_to(reply_);
    send(e);
  }
  void write(http::exchange& e) {
    if (!read(e)) return;
    json::write(batch_, reply_);
    send(e);
  }
  void look_up(http::exchange& e) {
    if (!read(e)) return;
    rows_.append_answer(batch_, reply_);
    send(e);
  }

  /// False: it has been answered.
  bool read(http::exchange& e) {
    auto done = json::read_into(batch_, e.request().body());
    if (!done) e.reply(done.error());
    return done.has_value();
  }
  void send(http::exchange& e) { e.reply(http::status::ok, "application/json", reply_); }

  rdrs::batch_of<json::lent_text> lent_;
  rdrs::batch batch_;
  rdrs::table rows_;
  std::string keeper_;
  std::string reply_;
};

}  // namespace

int run_rdrs_server(int argc, char** argv) {
  weft::application app{
      argc,
      argv,
      {.name = "weft-bench rdrs",
       .about = "weft-bench rdrs serves a batch of reads in the steps that a whole answer has,\n"
                "to be measured: GET /ping, and POST /walk, /read, /check, /write and /rows.",
       .version = WEFT_VERSION}};
  http::server_options server;
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  if (const auto ended = app.parse()) return *ended;
  app.add<http::server>(server);
  app.add<rdrs_api>();
  return app.run();
}

}  // namespace weft::bench
