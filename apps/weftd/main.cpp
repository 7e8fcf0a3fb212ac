// weftd: serves data over HTTP.
#include <chrono>
#include <cstdio>
#include <string>

#include <apps/weftd/routes.hpp>
#include <weft/base/format.hpp>
#include <weft/http/health_pages.hpp>
#include <weft/http/metrics_page.hpp>
#include <weft/http/server.hpp>
#include <weft/net/address_book.hpp>
#include <weft/service/application.hpp>

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr const char* about =
    "weftd serves data over HTTP.\n\n"
    "Routes: POST /ping gives back the JSON it is sent; GET / says what to try; GET /healthz says "
    "\"ok\"; GET /readyz whether it is ready; GET /metrics has its numbers for Prometheus.";

constexpr const char* examples =
    "Examples:\n"
    "  weftd                                     serve on 127.0.0.1:8080, one shard a CPU\n"
    "  weftd --listen :80 --threads 4            serve all IPv4 addresses on four shards\n"
    "  weftd --listen unix:/run/weftd.sock       serve a Unix socket\n"
    "  weftd --backend epoll                     do without io_uring\n\n"
    "SIGINT or SIGTERM ends it once all requests that have come are answered, or --stop-timeout "
    "is\n"
    "over; a second one ends it at once.\n"
    "Exit code: 0 after a clean end, 1 if it could not start or something did not end, 2 for a "
    "wrong\n"
    "command line or option.";

/// The first thing a person does with it, ready to paste.
std::string first_request(const std::string& address, std::string_view scheme) {
  constexpr std::string_view unix_prefix = "unix:";
  const bool is_path = address.starts_with(unix_prefix);
  const std::string where = is_path ? weft::format("--unix-socket {} {}://localhost",
                                                   address.substr(unix_prefix.size()), scheme)
                                    : weft::format("{}://{}", scheme, address);
  return weft::format("weftd serves {}; try:\n\n  curl -d '{{\"sequence\": 2}}' {}/ping\n\n",
                      address, where);
}

}  // namespace

int main(int argc, char** argv) {
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
  app.options().epilogue(examples);
  app.add<weft::http::server>(server);
  app.add<weftd::root_page>();
  app.add<weftd::ping_api>();
  app.add<weft::http::health_pages>();
  app.add<weft::http::metrics_page>();
  app.on_ready([&] {
    const auto& chosen = app.options_for<weft::http::server>();
    if (const auto address = app.addresses().claim(chosen.listen)) {
      const char* const scheme = chosen.tls.certificate.empty() ? "http" : "https";
      std::fputs(first_request(address->to_string(), scheme).c_str(), stdout);
      std::fflush(stdout);
    }
  });
  return app.run();
}
