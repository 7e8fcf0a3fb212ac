// What every task carries without its author passing it on: whom to obey (stop_token), until when
// (deadline), who runs it (scheduler), and which service it works for (lifetime). A child inherits
// it through co_await and through scope::spawn; every wait honours it.
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

struct environment {
  stop_token stop{};
  deadline until{};
  scheduler* runs_on = nullptr;
  lifetime* owner = nullptr;  // weft/service/lifetime.hpp; nullptr: of no service
};

}  // namespace weft
