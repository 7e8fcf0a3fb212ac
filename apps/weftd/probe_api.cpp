#include <apps/weftd/probe_api.hpp>

#include <string>

#include <apps/weftd/api_fault.hpp>
#include <weft/http/server.hpp>

namespace weftd {
namespace {

namespace http = weft::http;

/// Whether it asks with nothing but its path; else it has been told.
bool has_no_body(http::exchange& e, api_version spoken) {
  if (e.request().body().empty()) return true;
  reply(e, bad_request("a body is not allowed here"), spoken);
  return false;
}

void add_probes(http::server& server, api_version spoken) {
  auto api = server.group(prefix_of(spoken));
  api.route(http::method::get, "/ping", [spoken](http::exchange& e) {
    if (has_no_body(e, spoken)) e.reply(http::status::ok, {}, {});
  });
  api.route(http::method::get, "/health", [&server, spoken](http::exchange& e) {
    if (!has_no_body(e, spoken)) return;
    const bool is_leaving = server.is_draining();
    e.reply(is_leaving ? http::status::service_unavailable : http::status::ok, "text/plain",
            is_leaving ? "0" : "1");
  });
}

}  // namespace

probe_api::probe_api(http::server& server) {
  add_probes(server, api_version::v0_1_0);
  add_probes(server, api_version::v0_2_0);
}

}  // namespace weftd
