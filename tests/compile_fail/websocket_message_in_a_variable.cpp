// expect: temporary whose address is used as value of local variable
#include <string>

#include <weft/http/websocket/websocket.hpp>

#pragma clang diagnostic error "-Wdangling"

weft::task<void> greet(weft::http::websocket& socket, std::string name) {
#ifdef MISTAKE
  auto sending = socket.send("hello, " + name);
  (void)co_await sending;
#else
  (void)co_await socket.send("hello, " + name);
#endif
}
