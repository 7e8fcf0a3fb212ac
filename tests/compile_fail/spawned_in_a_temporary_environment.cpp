// expect: deleted member function 'spawn_in'
#include <weft/coro/environment.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/event_loop.hpp>

weft::task<void> work();

void begin(weft::event_loop& loop, const weft::environment& outlives_the_task) {
#ifdef MISTAKE
  loop.spawn_in({.stop = outlives_the_task.stop, .runs_on = &loop}, work());
#else
  loop.spawn_in(outlives_the_task, work());
#endif
}
