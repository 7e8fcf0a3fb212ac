#include <weft/loop/epoll/starved_line.hpp>

#include <utility>

namespace weft {

epoll_descriptor* starved_line::feed(buffer_pool& buffers) noexcept {
  if (line_.empty()) return nullptr;
  buffer_ref buffer = buffers.acquire();
  if (!buffer) return nullptr;
  epoll_descriptor& first = *line_.front();
  line_.pop_front();
  first.starved = false;
  if (first.reader->kind == operation_kind::receive)
    static_cast<receive_operation&>(*first.reader).buffer = std::move(buffer);
  else
    static_cast<receive_datagrams_operation&>(*first.reader).room.front().bytes = std::move(buffer);
  return &first;
}

}  // namespace weft
