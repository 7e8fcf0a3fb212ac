// expect: write() takes ownership
#include <string>
#include <utility>

#include <weft/net/tcp_stream.hpp>

auto send(weft::net::tcp_stream& stream, weft::buffer_ref& bytes) {
#ifdef MISTAKE
  return stream.write(bytes);
#else
  return stream.write(std::move(bytes));
#endif
}
