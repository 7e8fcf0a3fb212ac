// Which databases, tables and columns there are: for pages and programs that want to know what they
// can ask for. The RonDB REST server has nothing of the kind.
//
// Contract: GET /{version}/schema is JSON, of the catalog that requests are planned with: of the
// databases that who asks may read. It waits for a look at the schema, whose rate is bounded
// (weft/store/schema_looks.hpp); if that fails, it has what was seen last. A long reply is made in
// parts, and counts against the memory budget: if there is no memory for it, the reply is 503. One
// a shard.
//
//   app.add<weftd::schema_api>();
#pragma once

#include <weft/coro/task.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weft::http {
class exchange;
class server;
}  // namespace weft::http

namespace weft::store {
class engine;
}

namespace weftd {

class access;

class schema_api {
 public:
  schema_api(weft::http::server& server, weft::store::engine& engine, access& doors);

 private:
  weft::task<void> answer(weft::http::exchange& e, weft::store::engine& engine, access& doors,
                          api_version spoken);

  request_memory_pool memories_{true};
};

}  // namespace weftd
