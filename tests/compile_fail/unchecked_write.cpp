// expect: ignoring return value
#include <weft/net/tcp_stream.hpp>

#pragma clang diagnostic error "-Wunused-result"

weft::task<bool> send(weft::net::tcp_stream& stream) {
#ifdef MISTAKE
  co_await stream.write("hello");
  co_return true;
#else
  const auto written = co_await stream.write("hello");
  co_return written.has_value();
#endif
}
