// The routes of weftd.
//
// Contract: one service a group of routes; each is made per shard and lives on it.
//
//   app.add<weftd::ping_api>();
#pragma once

namespace weft::http {
class server;
}

namespace weftd {

/// POST /ping: `{"sequence": 2}` in, the same out.
struct ping_api {
  explicit ping_api(weft::http::server& http);
};

}  // namespace weftd
