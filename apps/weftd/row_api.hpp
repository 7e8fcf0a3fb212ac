// Rows by primary key: one read, or many of any tables in a batch; written in batches.
//
// Contract: below /0.1.0 and /0.2.0, which differ in how they tell faults (api_fault.hpp): POST
// {db}/{table}/pk-read and {db}/{table}/scan; POST batch; POST batchwrite with pk-write (updates
// the row or inserts it), pk-update and pk-insert; POST or DELETE batchdelete with pk-delete; each
// database of a batch of writes is a transaction (write_batch.hpp). What is wrong with a request is
// told in the order who asks, parse, validate, authorise, look up; docs/weftd.md has all of it.
// What is warm is read without a wait; a write is answered when it is durable. One a shard.
//
//   app.add<weftd::row_api>();
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/bounds.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>

#include <apps/weftd/api_request.hpp>
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

class access;
class reply_compression;

struct row_api_options {
  /// Of a request; what is longer is answered with 413.
  std::uint64_t request_bytes = 4U << 20U;
  std::size_t batch_operations = 128;
  std::size_t operation_id_bytes = 256;
  /// Of a reply to a batch of reads, beyond which no row is begun; a longer one is answered with
  /// 413.
  std::size_t reply_bytes = 64U << 20U;
  /// Of one reply to a scan, which ends at whichever is first, and says where to go on.
  std::size_t scan_rows = 10'000;
  std::size_t scan_bytes = 4U << 20U;
  /// How long a scan may take, which may look at all rows and find none. Beyond: 504.
  weft::duration scan_timeout = std::chrono::seconds{20};

  static constexpr auto bounds() {
    return weft::bounds(
        weft::at_least<&row_api_options::request_bytes>(1),
        weft::at_least<&row_api_options::batch_operations>(1),
        weft::at_least<&row_api_options::reply_bytes>(1),
        weft::at_least<&row_api_options::scan_rows>(1),
        weft::at_least<&row_api_options::scan_bytes>(1),
        weft::at_least<&row_api_options::scan_timeout>(std::chrono::milliseconds{1}));
  }
};

class row_api {
 public:
  using options = row_api_options;

  row_api(row_api_options options, weft::http::server& server, weft::store::engine& engine,
          access& doors, reply_compression& compression);

 private:
  void add_routes(weft::http::server& server, reply_compression& compression, api_version spoken);
  weft::task<void> answer_row(weft::http::exchange& e, api_version spoken);
  weft::task<void> answer_scan(weft::http::exchange& e, api_version spoken);
  weft::task<void> answer_reads(weft::http::exchange& e, api_version spoken);
  using judge = checked (*)(const batch_write_request& asked, const api_limits& limits,
                            request_memory& memory);
  /// Of a request that `check` judges.
  weft::task<void> answer_writes(weft::http::exchange& e, judge check, api_version spoken);

  row_api_options options_;
  api_limits limits_;
  access& doors_;
  weft::store::engine& engine_;
  request_memory_pool memories_{true};
};

}  // namespace weftd
