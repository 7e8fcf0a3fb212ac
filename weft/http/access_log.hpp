// An access log: a line for each reply of a server.
//
// Contract: a middleware, outermost for all that it is to see: server::wrap_all() before others.
// The sink gets each line, with its end, on the server's shard, once the reply has been given, or
// its writer has ended; it must not wait for a disk or a reader, and ends with the log. Requests
// that no handler could be asked about (a broken head, a body too long) are not seen; the counters
// have those. The time is that of the loop's turns: what is answered at once took 0. Nothing is
// allocated for a line but what the sink does.
//
//   http.wrap_all(http::access_log{loop, [&](std::string_view line) { lines.append(line); }});
#pragma once

#include <string>
#include <string_view>

#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/http/access_line.hpp>
#include <weft/http/exchange.hpp>

namespace weft {
class event_loop;
}

namespace weft::http {

class access_log {
 public:
  using sink = unique_function<void(std::string_view line)>;

  access_log(event_loop& loop, sink to, access_format how = access_format::combined)
      : loop_{&loop}, to_{std::move(to)}, how_{how} {}

  void operator()(exchange& e, handler& next);

 private:
  void write(exchange& e, time_point begun);

  event_loop* loop_;
  sink to_;
  access_format how_;
  std::string line_;
};

}  // namespace weft::http
