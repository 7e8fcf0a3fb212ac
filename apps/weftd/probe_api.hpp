// The API's own words for "are you there": for clients and balancers of the RonDB REST server.
//
// Problem: probes must be answered while clients have taken every connection there may be.
// Contract: GET /{version}/ping is 200 and empty; GET /{version}/health is 200 and "1", or 503 and
// "0" before the server lets anybody in, while it drains, and while the engine cannot be reached. A
// body with either is 400. Either may want a key, of any database. Both are answered by a server
// called "probe" as well, without a key, which is to be added before the other, so that it listens
// longer. /healthz and /readyz say more: "rows" is not ready. One a shard: no loop waits for a
// database, so that a probe that is not answered tells of a shard that does not turn.
//
//   app.add<weft::http::server>(weftd::probe_options()).named("probe");
//   app.add<weft::http::server>();
//   app.add<weftd::probe_api>();
#pragma once

#include <string>
#include <vector>

#include <weft/service/needs.hpp>

namespace weft::http {
class server;
class health_pages;
struct server_options;
}  // namespace weft::http

namespace weft::store {
class engine;
}

namespace weftd {

class access;

/// Of a server for probes alone, which listens nowhere yet: small, and quick to give up.
[[nodiscard]] weft::http::server_options probe_options();

struct probe_api_options {
  /// Of ping and health on the port of rows: whoever asks must have a key.
  bool ping_requires_key = false;
  bool health_requires_key = false;
};

struct probe_api {
  using options = probe_api_options;

  probe_api(probe_api_options options, weft::http::server& server,
            weft::named<weft::http::server, "probe"> probe, weft::http::health_pages& pages,
            weft::store::engine& engine, access& doors);
};

/// What is wrong with these options, where there are no keys: a line each.
[[nodiscard]] std::vector<std::string> check_probes(const probe_api_options& given, bool uses_keys);

}  // namespace weftd
