// Sockets whose readers have found no buffer, first come first served: one line for all backends.
//
// Problem: with thousands of connections buffers run out as a matter of course; who then waits must
// have a buffer in turn once some have come back, or it waits for ever. Contract: a socket stands
// here at most once, by its hook, and is forgotten before its reader or it goes. feed() serves one
// after another for as long as take() gives something that is true. One thread.
//
//   starved_line<epoll_descriptor, &epoll_descriptor::starved> line;
//   line.push(d);
//   line.feed([&] { return pool.acquire(); },
//             [](epoll_descriptor& d, buffer_ref&& buffer) { run(d, std::move(buffer)); });
#pragma once

#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

template <class Socket, list_hook Socket::* Hook>
class starved_line {
 public:
  [[nodiscard]] bool empty() const noexcept { return line_.empty(); }

  /// Does nothing for one that stands here.
  void push(Socket& socket) noexcept {
    if (!(socket.*Hook).is_linked()) line_.push_back(socket);
  }
  /// Does nothing for one that does not stand here.
  void forget(Socket& socket) noexcept {
    if ((socket.*Hook).is_linked()) line_.erase(socket);
  }

  template <class Take, class Serve>
  void feed(Take take, Serve serve) noexcept {
    while (!line_.empty()) {
      auto buffer = take();
      if (!buffer) return;
      serve(*line_.pop_front(), std::move(buffer));
    }
  }

 private:
  intrusive_list<Socket, Hook> line_;
};

/// Lets a reader, which takes bytes or datagrams, have the buffer that it has waited for.
inline void give_buffer(operation& reader, buffer_ref&& buffer) noexcept {
  if (reader.kind == operation_kind::receive)
    static_cast<receive_operation&>(reader).buffer = std::move(buffer);
  else
    static_cast<receive_datagrams_operation&>(reader).room.front().bytes = std::move(buffer);
}

}  // namespace weft
