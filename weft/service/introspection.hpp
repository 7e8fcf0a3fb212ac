// A running program that tells about itself: for a page, a log or a test.
//
// Problem: what is slow, or stuck, is seen from within: which service is down and for want of what,
// where tasks wait, which queue is full. Contract: a service, one on each shard; nothing is kept or
// counted for it, and to be asked costs a look at every service, task and operation of a shard.
// here() describes the own shard; everywhere() all of the program that have started theirs, each on
// its own thread, in the order of shards; its errors are those of on() (loop/on.hpp), errc::closed
// aside: a shard that has ended is left out. One shard.
//
//   app.add<introspection>();
//   explicit pages(http::server& http, introspection& program) {
//     http.get("/_weft", [&] { return to_json({{program.here()}}); });
//   }
#pragma once

#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/container.hpp>
#include <weft/service/description.hpp>
#include <weft/service/remote.hpp>

namespace weft {

class introspection {
 public:
  introspection(event_loop& loop, container& services, lifetime& own) noexcept
      : loop_{loop}, services_{services}, called_{detail::key_of<introspection>, this, own} {}

  void start() noexcept { called_.open(loop_); }
  void stop() noexcept { called_.close(); }

  [[nodiscard]] shard_description here();
  [[nodiscard]] task<result<application_description>> everywhere();

 private:
  event_loop& loop_;
  container& services_;
  detail::remote_target called_;
};

}  // namespace weft
