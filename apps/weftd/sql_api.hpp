// Rows by questions in SQL, which only read.
//
// Contract: below /0.1.0 and /0.2.0: POST sql, with values bound to parameters; POST ronsql, as the
// RonDB REST server has it, without them. docs/weftd.md has the messages. A query is made by other
// threads (weft/store/query.hpp), bounded in rows, bytes and time; it ends when the client leaves.
// One a shard.
//
//   app.add<weftd::sql_api>();
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/bounds.hpp>
#include <weft/coro/task.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weft::http {
class exchange;
class server;
}  // namespace weft::http

namespace weft::store {
class query_engine;
}

namespace weftd {

class access;
class reply_compression;

struct sql_api_options {
  /// Of a request; what is longer is answered with 413.
  std::uint64_t request_bytes = 1U << 20U;
  /// Of one reply, which ends at whichever is first, and says so.
  std::size_t rows = 10'000;
  std::size_t reply_bytes = 4U << 20U;

  static constexpr auto bounds() {
    return weft::bounds(weft::at_least<&sql_api_options::request_bytes>(1),
                        weft::at_least<&sql_api_options::rows>(1),
                        weft::at_least<&sql_api_options::reply_bytes>(1));
  }
};

class sql_api {
 public:
  using options = sql_api_options;

  sql_api(sql_api_options options, weft::http::server& server, weft::store::query_engine& engine,
          access& doors, reply_compression& compression);

 private:
  void add_routes(weft::http::server& server, reply_compression& compression, api_version spoken);
  weft::task<void> answer_sql(weft::http::exchange& e, api_version spoken);
  weft::task<void> answer_ronsql(weft::http::exchange& e, api_version spoken);

  sql_api_options options_;
  weft::store::query_engine& engine_;
  access& doors_;
  request_memory_pool memories_{true};
};

}  // namespace weftd
