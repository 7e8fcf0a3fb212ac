// What happens to the services of a street while the program runs, and how it becomes calm again.
//
//   co_await storm(here);       // random changes, from several sides at once
//   co_await settle(here);      // then all can be had that still has what it needs
#pragma once

#include <weft/coro/task.hpp>

#include "town.hpp"

namespace weft::simulation {

/// One random change of one random service. It may be refused, or come too late.
[[nodiscard]] task<void> change_something(street& here);
/// Until there is one, or, sometimes, not so long.
[[nodiscard]] task<void> wait_for_tower(street& here);
[[nodiscard]] task<void> storm(street& here);
[[nodiscard]] task<void> settle(street& here);

}  // namespace weft::simulation
