// One thing asked of the kernel (or of the simulated one): its arguments, its answer, and whom to
// tell.
//
// Contract: an operation lives where its waiter lives (a coroutine frame, a stream's state) and
// stays there until it has answered. backend::start() either answers at once (returns true, nothing
// is queued) or later, by scheduling the operation; `on_answer` then runs from the ready queue,
// never from inside the backend. cancel() only asks: the answer comes all the same, and is a
// success if that won the race. `result` is a count of bytes or 0, or a negated errno.
//
//   receive_operation op{stream_descriptor, &resume_reader};
//   if (backend.start(op)) use(op.result, std::move(op.buffer));
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/raw_address.hpp>

namespace weft {

/// What a backend knows of one socket or listener. Backends derive their own; users hold it and
/// pass it back.
struct descriptor {
  int fd = -1;
};

enum class operation_kind : std::uint8_t {
  accept,
  receive,
  send,
  receive_datagrams,
  send_datagrams,
  connect,
  readable,
  writable,
  file,
  close
};

/// For people who read a report.
[[nodiscard]] constexpr std::string_view to_string(operation_kind kind) noexcept {
  switch (kind) {
    case operation_kind::accept: return "accept";
    case operation_kind::receive: return "receive";
    case operation_kind::send: return "send";
    case operation_kind::receive_datagrams: return "receive of datagrams";
    case operation_kind::send_datagrams: return "send of datagrams";
    case operation_kind::connect: return "connect";
    case operation_kind::readable: return "wait for input";
    case operation_kind::writable: return "wait for room";
    case operation_kind::file: return "file operation";
    case operation_kind::close: return "close";
  }
  std::unreachable();
}

struct operation : runnable {
  using answer = void (*)(operation&) noexcept;

  operation(operation_kind k, descriptor* d, answer a) noexcept
      : runnable{&deliver}, kind{k}, target{d}, on_answer{a} {}

  /// The backend's last word: queued by it once the result stands.
  static void deliver(runnable& self) noexcept {
    auto& op = static_cast<operation&>(self);
    op.pending = false;
    op.run = &deliver;
    op.on_answer(op);
  }

  operation_kind kind;
  bool pending = false;    // started and not answered yet
  bool in_kernel = false;  // io_uring holds a reference to it
  bool cancelled = false;  // an early answer has been asked for
  std::int32_t result = 0;
  descriptor* target;
  answer on_answer;
};

/// One whose waiting is not all there is to a connection: a backend can afford a list of them.
struct listed_operation : operation {
  using operation::operation;
  list_hook listed;
};

/// Answers with a new connection in `accepted`.
struct accept_operation : operation {
  accept_operation(descriptor* listener, answer a) noexcept
      : operation{operation_kind::accept, listener, a} {}
  descriptor* accepted = nullptr;
  /// Whether to wait for one to come; else -EAGAIN says that none stands in line.
  bool waits = true;
};

/// Answers with bytes in `buffer`; result 0 is the end of the stream.
struct receive_operation : operation {
  receive_operation(descriptor* stream, answer a) noexcept
      : operation{operation_kind::receive, stream, a} {}
  buffer_ref buffer;
};

/// Sends `size` bytes from `data`, or what `message` gathers if it is set. May send fewer.
struct send_operation : operation {
  send_operation(descriptor* stream, answer a) noexcept
      : operation{operation_kind::send, stream, a} {}
  const char* data = nullptr;
  std::size_t size = 0;
  const msghdr* message = nullptr;
};

struct connect_operation : listed_operation {
  connect_operation(descriptor* stream, const sockaddr* to, socklen_t to_bytes, answer a) noexcept
      : listed_operation{operation_kind::connect, stream, a},
        address{to},
        address_bytes{to_bytes} {}
  const sockaddr* address;
  socklen_t address_bytes;
};

/// Of a longer datagram only so much is kept: what a slot holds beside io_uring's header and the
/// peer's address.
inline constexpr std::size_t datagram_most_bytes = buffer_pool::slot_capacity - 44;

/// A datagram that has come.
struct datagram {
  buffer_ref bytes;
  raw_address peer;
  std::size_t size_bytes = 0;  // as it was sent
  [[nodiscard]] bool truncated() const noexcept { return size_bytes > bytes.size(); }
};

/// Answers with datagrams at the front of `room`, as many as `result` says.
struct receive_datagrams_operation : operation {
  receive_datagrams_operation(descriptor* socket, std::span<datagram> r, answer a) noexcept
      : operation{operation_kind::receive_datagrams, socket, a}, room{r} {}
  std::span<datagram> room;
};

/// Sends `messages` in one go, perhaps fewer; a failure is the first one's. 0: there was room for
/// none, and now there may be: to be started anew.
struct send_datagrams_operation : listed_operation {
  send_datagrams_operation(descriptor* socket, answer a) noexcept
      : listed_operation{operation_kind::send_datagrams, socket, a} {}
  std::span<mmsghdr> messages;
};

/// Answers when the file descriptor `fd`, which stays its owner's, can be read or written without
/// blocking.
struct poll_operation : listed_operation {
  poll_operation(operation_kind readable_or_writable, int file, answer a) noexcept
      : listed_operation{readable_or_writable, nullptr, a}, fd{file} {}
  int fd;
};

/// Answers when nothing of the kernel refers to the descriptor any more, which is then gone.
struct close_operation : operation {
  close_operation(descriptor* d, answer a) noexcept : operation{operation_kind::close, d, a} {}
};

}  // namespace weft
