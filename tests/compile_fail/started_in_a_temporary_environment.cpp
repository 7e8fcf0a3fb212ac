// expect: deleted member function 'start_in'
#include <weft/coro/environment.hpp>
#include <weft/coro/scope.hpp>

weft::task<void> work();

void begin(weft::scope& tasks, const weft::environment& outlives_the_task) {
#ifdef MISTAKE
  tasks.start_in(weft::environment{.runs_on = outlives_the_task.runs_on}, work());
#else
  tasks.start_in(outlives_the_task, work());
#endif
}
