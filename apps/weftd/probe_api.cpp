#include <apps/weftd/probe_api.hpp>

#include <chrono>
#include <string_view>
#include <utility>

#include <apps/weftd/access.hpp>
#include <apps/weftd/api_description.hpp>
#include <weft/base/format.hpp>
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

/// Whether it has a key, where it must; else it has been told. nullptr: it need not.
bool may_ask(http::exchange& e, access* doors, api_version spoken) {
  if (doors == nullptr) return true;
  const auto who = doors->identify(e);
  if (!who) reply(e, who.error(), spoken);
  return who.has_value();
}

http::route_description described(access* doors, api_version spoken,
                                  http::route_description route) {
  return doors == nullptr ? route : guarded(*doors, spoken, std::move(route));
}

/// Who must have a key to ask what; nullptr: nobody.
struct probe_doors {
  access* ping = nullptr;
  access* health = nullptr;
};

/// Answered by `at`, of `server`.
void add_probes(http::server& at, http::server& server, const weft::store::engine& engine,
                probe_doors doors, api_version spoken) {
  auto api = at.group(prefix_of(spoken));
  const auto ping = [to = doors.ping, spoken](http::exchange& e) {
    if (may_ask(e, to, spoken) && has_no_body(e, spoken)) e.reply(http::status::ok, {}, {});
  };
  api.get("/ping", http::described(
                       ping, described(doors.ping, spoken,
                                       {.summary = "Whether it is there",
                                        .tags = {"operation"},
                                        .errors = {http::status::bad_request},
                                        .replies = {{http::status::ok}, body_refused(spoken)}})));
  const auto tell_health = [to = doors.health, &server, &engine, spoken](http::exchange& e) {
    if (!may_ask(e, to, spoken) || !has_no_body(e, spoken)) return;
    const bool is_well = server.is_listening() && engine.is_reachable();
    e.reply(is_well ? http::status::ok : http::status::service_unavailable, plain,
            is_well ? "1" : "0");
  };
  api.get("/health",
          http::described(
              tell_health,
              described(doors.health, spoken,
                        {.summary = "Whether it should be asked",
                         .tags = {"operation"},
                         .errors = {http::status::bad_request, http::status::service_unavailable},
                         .replies = {{http::status::ok, "1", nullptr, plain},
                                     {http::status::service_unavailable,
                                      "0: it drains, or has no rows now", nullptr, plain},
                                     body_refused(spoken)}})));
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

probe_api::probe_api(probe_api_options options, http::server& server,
                     weft::named<http::server, "probe"> probe, http::health_pages& pages,
                     weft::store::engine& engine, access& doors) {
  pages.check("rows", [&engine] { return engine.is_reachable(); });
  const probe_doors guarded_by{options.ping_requires_key ? &doors : nullptr,
                               options.health_requires_key ? &doors : nullptr};
  for (const api_version spoken : {api_version::v0_1_0, api_version::v0_2_0}) {
    add_probes(server, server, engine, guarded_by, spoken);
    add_probes(*probe, server, engine, {}, spoken);
  }
}

std::vector<std::string> check_probes(const probe_api_options& given, bool uses_keys) {
  std::vector<std::string> faults;
  const auto wants_keys = [&](bool is_set, std::string_view name) {
    if (is_set && !uses_keys)
      faults.push_back(
          weft::format("weftd.probe_api.{}: there are no keys: name a file of them "
                       "by --keys",
                       name));
  };
  wants_keys(given.ping_requires_key, "ping_requires_key");
  wants_keys(given.health_requires_key, "health_requires_key");
  return faults;
}

}  // namespace weftd
