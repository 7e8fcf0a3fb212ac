// What every task carries without its author passing it on: whom to obey (stop_token), until when
// (deadline), who runs it (scheduler), which service it works for (lifetime), who waits for it on
// behalf of another one, and the trace that it belongs to. A child inherits it through co_await and
// through scope::spawn, and so through when_all() and race(); a call to another shard passes on all
// but the stop token and the service. Every wait honours it. Who is told of an event does not.
//
// Contract: tasks hold a pointer to an environment that outlives them (the scope's, or the frame of
// whoever narrowed it). Reading it costs nothing: `const environment& env = co_await
// this_task::environment();`
//
//   if ((co_await this_task::environment()).stop.stop_requested()) co_return;
#pragma once

#include <weft/coro/deadline.hpp>
#include <weft/coro/stop_token.hpp>

namespace weft {

class lifetime;
class scheduler;
namespace telemetry {
struct trace_context;
}

struct environment {
  stop_token stop{};
  deadline until{};
  scheduler* runs_on = nullptr;
  lifetime* owner = nullptr;  // weft/service/lifetime.hpp; nullptr: of no service
  // Of who has called this service and waits for the answer, perhaps on another shard: to be
  // compared there, not obeyed. nullptr: nobody.
  const environment* called_by = nullptr;
  // Of the request that it works for; nullptr: none.
  const telemetry::trace_context* trace = nullptr;
};

}  // namespace weft
