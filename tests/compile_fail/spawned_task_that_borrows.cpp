// expect: this task borrows its arguments: co_await it in the expression that makes it
#include <string>

#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/scope.hpp>

weft::borrowing_task<void> say(weft::borrowed_text text);

void greet(weft::scope& greetings, std::string name) {
#ifdef MISTAKE
  greetings.spawn(say("hello, " + name));
#else
  greetings.spawn([name]() -> weft::task<void> { co_await say("hello, " + name); });
#endif
}
