// expect: write() takes ownership
#include <string>
#include <utility>

#include <weft/net/tcp_stream.hpp>

auto send(weft::net::tcp_stream& stream, const std::string& bytes) {
#ifdef MISTAKE
  return stream.write(bytes);
#else
  return stream.write(std::string_view{bytes});
#endif
}
