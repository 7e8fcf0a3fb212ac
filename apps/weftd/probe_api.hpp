// The API's own words for "are you there": for clients and balancers of the RonDB REST server.
//
// Contract: GET /{version}/ping is 200 and empty; GET /{version}/health is 200 and "1", or 503 and
// "0" while the server drains. A body with either is 400. /healthz and /readyz say more. One a
// shard.
//
//   app.add<weftd::probe_api>();
#pragma once

namespace weft::http {
class server;
}

namespace weftd {

struct probe_api {
  explicit probe_api(weft::http::server& server);
};

}  // namespace weftd
