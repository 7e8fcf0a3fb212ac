#include <apps/weftd/probe_api.hpp>

#include <string>

#include <apps/weftd/api_description.hpp>
#include <weft/http/server.hpp>

namespace weftd {
namespace {

namespace http = weft::http;

constexpr const char* plain = "text/plain";

http::described_reply body_refused(api_version spoken) {
  return fault_reply(spoken, http::status::bad_request);
}

/// Whether it asks with nothing but its path; else it has been told.
bool has_no_body(http::exchange& e, api_version spoken) {
  if (e.request().body().empty()) return true;
  reply(e, bad_request("a body is not allowed here"), spoken);
  return false;
}

void add_probes(http::server& server, api_version spoken) {
  auto api = server.group(prefix_of(spoken));
  const auto ping = [spoken](http::exchange& e) {
    if (has_no_body(e, spoken)) e.reply(http::status::ok, {}, {});
  };
  api.get("/ping", http::described(ping, {.summary = "Whether it is there",
                                          .tags = {"operation"},
                                          .errors = {http::status::bad_request},
                                          .replies = {{http::status::ok}, body_refused(spoken)}}));
  const auto tell_health = [&server, spoken](http::exchange& e) {
    if (!has_no_body(e, spoken)) return;
    const bool is_leaving = server.is_draining();
    e.reply(is_leaving ? http::status::service_unavailable : http::status::ok, plain,
            is_leaving ? "0" : "1");
  };
  api.get("/health",
          http::described(
              tell_health,
              {.summary = "Whether it should be asked",
               .tags = {"operation"},
               .errors = {http::status::bad_request, http::status::service_unavailable},
               .replies = {{http::status::ok, "1", nullptr, plain},
                           {http::status::service_unavailable, "0: it drains", nullptr, plain},
                           body_refused(spoken)}}));
}

}  // namespace

probe_api::probe_api(http::server& server) {
  add_probes(server, api_version::v0_1_0);
  add_probes(server, api_version::v0_2_0);
}

}  // namespace weftd
