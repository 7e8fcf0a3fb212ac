#include "load_connection.hpp"

#include <string>

namespace weft::bench {

std::size_t connection::unsent(std::span<iovec> pieces) const {
  std::size_t count = 0;
  for (std::size_t i = whole_sent; i < owed.size() && count < pieces.size(); ++i) {
    const std::string& bytes = owed[i].to->bytes;
    const std::size_t from = i == whole_sent ? sent : 0;
    // iovec is for reading into as well, so it knows no const.
    pieces[count++] = {.iov_base = const_cast<char*>(bytes.data()) + from,
                       .iov_len = bytes.size() - from};
  }
  return count;
}

void connection::advance(std::size_t sent_bytes) {
  sent += sent_bytes;
  while (whole_sent < owed.size() && sent >= owed[whole_sent].to->bytes.size()) {
    sent -= owed[whole_sent].to->bytes.size();
    ++whole_sent;
  }
}

}  // namespace weft::bench
