// Rows by primary key: one, or many of any tables in a batch.
//
// Contract: POST /{version}/{db}/{table}/pk-read and POST /{version}/batch for the versions 0.1.0
// and 0.2.0, which differ in how they tell faults (api_fault.hpp). What is wrong with a request is
// told in the order parse, validate, look up; docs/weftd.md has all of it. What is warm is answered
// without a wait. One a shard.
//
//   app.add<weftd::read_api>();
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/coro/task.hpp>
#include <weft/service/option_bounds.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/check_request.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weft::http {
class exchange;
class server;
}  // namespace weft::http

namespace weft::store {
class engine;
}

namespace weftd {

struct read_api_options {
  /// Of a request; what is longer is answered with 413.
  std::uint64_t request_bytes = 4U << 20U;
  std::size_t batch_operations = 128;
  std::size_t operation_id_bytes = 256;

  static constexpr auto bounds() {
    return weft::bounds(weft::at_least<&read_api_options::request_bytes>(1),
                        weft::at_least<&read_api_options::batch_operations>(1));
  }
};

class read_api {
 public:
  using options = read_api_options;

  read_api(read_api_options options, weft::http::server& server, weft::store::engine& engine);

 private:
  void add_routes(weft::http::server& server, api_version spoken);
  weft::task<void> read_row(weft::http::exchange& e, api_version spoken);
  weft::task<void> read_batch(weft::http::exchange& e, api_version spoken);

  read_api_options options_;
  api_limits limits_;
  weft::store::engine& engine_;
  request_memory_pool memories_;
};

}  // namespace weftd
