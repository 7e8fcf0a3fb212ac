// Which databases, tables and columns there are: for pages and programs that want to know what they
// can ask for. The RonDB REST server has nothing of the kind.
//
// Contract: GET /{version}/schema is JSON, of the catalog that requests are planned with: of the
// databases that who asks may read. It waits for a look at the schema, whose rate is bounded
// (weft/store/schema_looks.hpp); if that fails, it has what was seen last. One a shard.
//
//   app.add<weftd::schema_api>();
#pragma once

namespace weft::http {
class server;
}

namespace weft::store {
class engine;
}

namespace weftd {

class access;

struct schema_api {
  schema_api(weft::http::server& server, weft::store::engine& engine, access& doors);
};

}  // namespace weftd
