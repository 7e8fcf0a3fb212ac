#include <apps/weftd/serve_command.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/base/log_escape.hpp>
#include <weft/http/health_pages.hpp>
#include <weft/http/metrics_page.hpp>
#include <weft/http/openapi_page.hpp>
#include <weft/http/server.hpp>
#include <weft/net/address_book.hpp>
#include <weft/service/application.hpp>
#include <weft/telemetry/log_format.hpp>

#include <apps/weftd/access.hpp>
#include <apps/weftd/control_api.hpp>
#include <apps/weftd/demo_database.hpp>
#include <apps/weftd/engine_choice.hpp>
#include <apps/weftd/probe_api.hpp>
#include <apps/weftd/reply_compression.hpp>
#include <apps/weftd/root_page.hpp>
#include <apps/weftd/routes.hpp>
#include <apps/weftd/row_api.hpp>
#include <apps/weftd/schema_api.hpp>
#include <apps/weftd/sql_api.hpp>
#include <apps/weftd/stat_api.hpp>
#include <apps/weftd/terminal_line.hpp>

namespace weftd {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr const char* about =
    "weftd serves the rows of SQL databases over HTTP, by primary key.\n\n"
    "Routes: POST /0.1.0/{db}/{table}/pk-read reads a row, POST /0.1.0/batch many, POST\n"
    "/0.1.0/{db}/{table}/scan those that hold something; POST\n"
    "/0.1.0/batchwrite and /0.1.0/batchdelete write them; the same below /0.2.0 tell faults as\n"
    "JSON; POST /0.1.0/sql reads by a SELECT. POST /ping gives back the JSON it is sent; GET /\n"
    "says what to try; GET /healthz says\n"
    "\"ok\"; GET /readyz whether it is ready; GET /metrics has its numbers for Prometheus.";

constexpr const char* api_about =
    "Rows of SQL databases by primary key. Below `/0.1.0` faults are told as text, below `/0.2.0` "
    "as JSON.";

constexpr const char* examples =
    "Commands, each with a --help of its own:\n"
    "  weftd [serve]                             serve\n"
    "  weftd demo                                make a database with 100,000 rows, and serve it\n"
    "  weftd check-config                        say what is wrong with the options, if anything\n"
    "  weftd keygen                              make an API key\n"
    "  weftd import, weftd export                a table from and to CSV or JSON lines\n"
    "  weftd swap                                another file in the place of a database\n\n"
    "Examples:\n"
    "  weftd --data /var/lib/shop                serve the databases there, on 127.0.0.1:8080\n"
    "  weftd --mysql mysql://shop@db.example     serve those of a MySQL or MariaDB server\n"
    "  weftd --listen :80 --keys keys.toml       serve all IPv4 addresses, to who has a key\n"
    "  weftd --listen unix:/run/weftd.sock       serve a Unix socket\n"
    "  weftd --backend epoll                     do without io_uring\n\n"
    "SIGINT or SIGTERM ends it once all requests that have come are answered, or --stop-timeout "
    "is\n"
    "over; a second one ends it at once.\n"
    "Exit code: 0 after a clean end, 1 if it could not start or something did not end, 2 for a "
    "wrong\n"
    "command line or option.";

constexpr std::string_view demo_row = R"({"filters":[{"column":"id","value":17}],)"
                                      R"("readColumns":[{"column":"name"},{"column":"balance"}]})";
constexpr std::string_view demo_batch =
    R"({"operations":[)"
    R"({"method":"POST","relative-url":"demo/users/pk-read","body":{"filters":[)"
    R"({"column":"id","value":1}]}},)"
    R"({"method":"POST","relative-url":"demo/stock/pk-read","body":{"filters":[)"
    R"({"column":"warehouse","value":"VIE"},{"column":"article","value":42}]}}]})";

/// What a person does first, ready to paste.
std::string first_requests(const std::string& address, std::string_view scheme, bool is_demo) {
  constexpr std::string_view unix_prefix = "unix:";
  const bool is_path = address.starts_with(unix_prefix);
  const std::string where = is_path ? weft::format("--unix-socket {} {}://localhost",
                                                   address.substr(unix_prefix.size()), scheme)
                                    : weft::format("{}://{}", scheme, address);
  if (!is_demo)
    return weft::format("weftd serves {}; try:\n\n  curl -d '{{\"sequence\": 2}}' {}/ping\n\n",
                        address, where);
  return weft::format(
      "weftd serves {0}; try:\n\n  curl -d '{2}' {1}/0.2.0/demo/users/pk-read\n\n"
      "  curl -d '{3}' {1}/0.2.0/batch\n\n",
      address, where, demo_row, demo_batch);
}

/// The exit code if it could not be made; 0.
int prepare_demo(const std::string& directory, bool logs_json) {
  if (logs_json) weft::use_log_format(weft::log_format::json);
  const auto made = make_demo_database(directory);
  if (!made) {
    logs_json ? weft::log::error(made.error()) : print_line(stderr, "weftd: " + made.error());
    return 1;
  }
  if (!*made) return 0;
  const std::string done = weft::format("made {}/demo.db with 100,000 rows", directory);
  logs_json ? weft::log::info(done) : print_line(stdout, done);
  return 0;
}

}  // namespace

int serve(int argc, char** argv, bool is_demo) {
  weft::application app{
      argc, argv, {.name = "weftd", .about = about, .version = WEFT_VERSION, .threads = 0}};
  // Everything beyond this is shed by the kernel's own limit on open files, with a warning that
  // names it.
  weft::http::server_options server{.limits = {.connections = 1'000'000}};
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  auto drain_idle = static_cast<unsigned>(duration_cast<milliseconds>(server.drain_idle).count());
  app.options().option("--drain-idle", drain_idle,
                       "After a signal: how long idle connections are kept for a request under way",
                       "MILLISECONDS", 60'000);
  app.options().stands_for("--drain-idle", "http.server.drain_idle", "ms");
  engine_choice rows{app,
                     {.directory = is_demo ? "weft-demo" : "", .query_program = "/proc/self/exe"}};
  access_options access_given;
  app.options().option("--keys", access_given.keys, "File of the API keys (see weftd keygen)",
                       "FILE");
  app.options().stands_for("--keys", "weftd.access.keys");
  app.options().flag(
      "--insecure-allow-all", access_given.insecure_allow_all,
      "Serve other machines without keys: whoever reaches it may read and write all");
  app.options().stands_for("--insecure-allow-all", "weftd.access.insecure_allow_all");
  weft::http::server_options probe = probe_options();
  app.options().option("--probe-listen", probe.listen,
                       "Where to answer probes alone; empty: nowhere", "ADDRESS:PORT");
  app.options().stands_for("--probe-listen", "probe.listen");
  app.options().epilogue(examples);
  if (const auto ended = app.parse()) return *ended;
  if (is_demo)
    if (const int code = prepare_demo(rows.directory(), app.logs_json())) return code;
  app.add<weft::http::server>(probe).named("probe");
  // Before the server: nobody is let in until the tables and the keys are known; they stop
  // when it has drained.
  rows.add_engines();
  app.add<access>(access_given);
  app.add<weft::http::server>(server);
  app.add<reply_compression>();
  app.add<row_api>();
  app.add<sql_api>();
  app.add<probe_api>();
  app.add<stat_api>();
  app.add<schema_api>();
  app.add<root_page>();
  app.add<ping_api>();
  app.add<control_api>().single();
  app.add<weft::http::health_pages>();
  app.add<weft::http::metrics_page>();
  app.add<weft::http::openapi_page>(
      {.title = "weftd", .version = WEFT_VERSION, .description = api_about});
  app.check_options([&] {
    const std::string& listen = app.options_for<weft::http::server>().listen;
    auto faults = check_exposure(app.options_for<access>(), listen, app.addresses());
    for (std::string& each : rows.faults()) faults.push_back(std::move(each));
    const bool uses_keys = !app.options_for<access>().keys.empty();
    for (std::string& each : check_probes(app.options_for<probe_api>(), uses_keys))
      faults.push_back(std::move(each));
    if (app.options_for<weft::http::server>("probe").listen == listen)
      faults.push_back(weft::format("--probe-listen: {} is where all else is served", listen));
    return faults;
  });
  app.on_ready([&] {
    if (app.logs_json()) return;
    const auto& chosen = app.options_for<weft::http::server>();
    if (const auto address = app.addresses().claim(chosen.listen)) {
      const char* const scheme = chosen.tls.certificate.empty() ? "http" : "https";
      // A hint for people: without a terminal nobody misses it.
      std::fputs(first_requests(weft::log::escaped(address->to_string()), scheme, is_demo).c_str(),
                 stdout);
      // As above.
      std::fflush(stdout);
    }
  });
  return app.run();
}

}  // namespace weftd
