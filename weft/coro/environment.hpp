// What every task carries without its author passing it on: whom to obey (stop_token), until when
// (deadline), who runs it (scheduler). A child inherits it through co_await and through
// scope::spawn; every wait honours it.
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

class scheduler;

struct environment {
  stop_token stop{};
  deadline until{};
  scheduler* runs_on = nullptr;
};

}  // namespace weft
