#include <apps/weftd/probe_api.hpp>

#include <chrono>

#include <apps/weftd/api_description.hpp>
#include <weft/http/health_pages.hpp>
#include <weft/http/server.hpp>
#include <weft/store/engine.hpp>

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

/// Answered by `at`, of `server`.
void add_probes(http::server& at, http::server& server, const weft::store::engine& engine,
                api_version spoken) {
  auto api = at.group(prefix_of(spoken));
  const auto ping = [spoken](http::exchange& e) {
    if (has_no_body(e, spoken)) e.reply(http::status::ok, {}, {});
  };
  api.get("/ping", http::described(ping, {.summary = "Whether it is there",
                                          .tags = {"operation"},
                                          .errors = {http::status::bad_request},
                                          .replies = {{http::status::ok}, body_refused(spoken)}}));
  const auto tell_health = [&server, &engine, spoken](http::exchange& e) {
    if (!has_no_body(e, spoken)) return;
    const bool is_well = server.is_listening() && engine.is_reachable();
    e.reply(is_well ? http::status::ok : http::status::service_unavailable, plain,
            is_well ? "1" : "0");
  };
  api.get("/health",
          http::described(tell_health,
                          {.summary = "Whether it should be asked",
                           .tags = {"operation"},
                           .errors = {http::status::bad_request, http::status::service_unavailable},
                           .replies = {{http::status::ok, "1", nullptr, plain},
                                       {http::status::service_unavailable,
                                        "0: it drains, or has no rows now", nullptr, plain},
                                       body_refused(spoken)}}));
}

}  // namespace

http::server_options probe_options() {
  constexpr weft::duration patience = std::chrono::seconds{2};
  return {.listen = "",
          .limits = {.head_bytes = 8 * 1024,
                     .body_bytes = 1024,
                     .connections = 128,
                     .header_timeout = patience,
                     .keep_alive_timeout = patience,
                     .write_stall_timeout = patience,
                     .handler_timeout = patience}};
}

probe_api::probe_api(http::server& server, weft::named<http::server, "probe"> probe,
                     http::health_pages& pages, weft::store::engine& engine) {
  pages.check("rows", [&engine] { return engine.is_reachable(); });
  for (const api_version spoken : {api_version::v0_1_0, api_version::v0_2_0}) {
    add_probes(server, server, engine, spoken);
    add_probes(*probe, server, engine, spoken);
  }
}

}  // namespace weftd
