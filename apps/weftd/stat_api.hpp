// What the server holds and has done, at a glance: for people and for those who knew the RonDB REST
// server's /stat.
//
// Contract: GET /{version}/stat is JSON, made of the program's registry, over all shards; the same
// numbers are at /metrics, with what they mean. Each was read by itself while its shard ran on.
// Reading waits for no shard. One a shard.
//
//   app.add<weftd::stat_api>();
#pragma once

#include <weft/base/time.hpp>

#include <apps/weftd/api_fault.hpp>

namespace weft {
class event_loop;
}

namespace weft::http {
class exchange;
class server;
}  // namespace weft::http

namespace weft::store {
class engine;
}

namespace weft::telemetry {
class registry;
}

namespace weftd {

class access;
class permit;
struct server_stat;

class stat_api {
 public:
  stat_api(weft::http::server& server, weft::store::engine& engine, access& doors,
           weft::telemetry::registry& metrics, weft::event_loop& loop);

 private:
  void answer(weft::http::exchange& e, api_version spoken) const;
  [[nodiscard]] server_stat read(const permit& found) const;

  weft::store::engine& engine_;
  access& doors_;
  weft::telemetry::registry& metrics_;
  weft::event_loop& loop_;
  weft::time_point began_;
};

}  // namespace weftd
