// The loop on epoll: readiness, edge-triggered, with the system call made when the task's turn
// comes.
//
// Contract: every socket is registered once, for both directions. A read that came back short has
// drained the socket, so that the next one waits for an edge without trying: one recv and one send
// a request. What an edge makes possible is done from the ready queue, one operation at a time: the
// buffer a request arrives in is the one the last request left. While others are ready, sends wait
// for each other (held_sends.hpp), until the turn ends at the latest. Events name a slot and its
// generation, never a file number, so that a late event cannot reach a new socket.
#pragma once

#include <memory>

#include <weft/loop/backend.hpp>

namespace weft {

[[nodiscard]] result<std::unique_ptr<backend>> make_epoll_backend(backend_context context);

}  // namespace weft
