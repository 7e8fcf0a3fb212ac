// Whose readers have found no buffer, first come first served.
//
// Contract: a descriptor stands here at most once, with a reader that receives. feed() takes out
// the first and gives its reader a buffer. One thread.
//
//   while (epoll_descriptor* d = starved.feed(buffers)) run(d->reader);
#pragma once

#include <deque>

#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/epoll/descriptor_table.hpp>

namespace weft {

class starved_line {
 public:
  [[nodiscard]] bool empty() const noexcept { return line_.empty(); }

  void push(epoll_descriptor& d) {
    d.starved = true;
    line_.push_back(&d);
  }
  /// Does nothing for one that does not stand here.
  void forget(epoll_descriptor& d) noexcept {
    if (d.starved) std::erase(line_, &d);
    d.starved = false;
  }
  /// nullptr: nobody stands here, or there is still no buffer.
  [[nodiscard]] epoll_descriptor* feed(buffer_pool& buffers) noexcept;

 private:
  std::deque<epoll_descriptor*> line_;
};

}  // namespace weft
