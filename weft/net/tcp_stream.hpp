// A connection: bytes in, bytes out, in coroutines.
//
// Contract: move-only; one reader at a time, any number of writers, all on the shard that made it.
// Every wait ends with errc::cancelled when its task is asked to stop and errc::timed_out at its
// deadline, and leaves the stream usable.
//   read()  gives bytes without a copy; the end of the stream is errc::closed.
//   write() owns what it is given (what it must copy, it copies before it suspends), returns once
//           at most high_watermark bytes are queued: a slow peer slows its writer. A write that was
//           cut short has queued its bytes all the same. A broken connection fails the next write.
//   flush() returns when all that was written has been handed to the kernel.
// Closing or dropping a stream ends a read that another task waits for with errc::cancelled. A
// stream dropped without close() still sends what is queued, for at most five seconds, in the
// loop's keeping; loop.run() waits for it.
// Unix stream sockets are served alike, and so are streams that are secured: see tls_stream.hpp.
//
//   task<void> echo(net::tcp_stream stream) {
//     while (auto bytes = co_await stream.read())
//       if (!co_await stream.write(std::move(*bytes))) co_return;
//   }
#pragma once

#include <sys/types.h>

#include <concepts>
#include <coroutine>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/wait.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/stream_state.hpp>

namespace weft {
class file;
}

namespace weft::net {

struct tls_info;

namespace detail {
struct tls_access;
/// As operation_awaiter::await_suspend(), of a stream that is secured.
bool read_secured(stream_state& stream, receive_operation& into, std::coroutine_handle<> waiting,
                  const environment& env) noexcept;
error secured_read_failure(const stream_state& stream) noexcept;
}  // namespace detail

/// Awaitable: the next bytes.
class [[nodiscard]] stream_read : public operation_awaiter<receive_operation> {
 public:
  explicit stream_read(detail::stream_state& stream) noexcept
      : operation_awaiter{stream.loop(), &stream.socket()}, stream_{stream} {}

  bool await_ready() noexcept {
    if (!stream_.unread) return false;
    operation_.buffer = std::move(stream_.unread);
    operation_.result = 1;
    return true;
  }
  template <class Promise>
  [[gnu::always_inline]] bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    stream_.read_begins(operation_);
    if (stream_.is_secured()) [[unlikely]]
      return detail::read_secured(stream_, operation_, waiting, *waiting.promise().env);
    return operation_awaiter::await_suspend(waiting);
  }
  [[nodiscard]] result<buffer_ref> await_resume() noexcept {
    auto outcome =
        operation_.result > 0 ? result<buffer_ref>{std::move(operation_.buffer)} : fail(failure());
    stream_.read_ended();
    return outcome;
  }

 private:
  [[nodiscard]] error failure() const noexcept {
    if (stream_.is_secured()) return detail::secured_read_failure(stream_);
    return operation_.result == 0 ? stream_.end_of_input() : operation_.failure();
  }

  detail::stream_state& stream_;
};

/// Awaitable: until at most so many bytes are queued.
class [[nodiscard]] stream_write {
 public:
  stream_write(detail::stream_state& stream, std::size_t ready_at, std::size_t resume_at) noexcept
      : stream_{stream}, ready_at_{ready_at}, waiter_{resume_at} {}
  stream_write(const stream_write&) = delete;
  stream_write& operator=(const stream_write&) = delete;

  bool await_ready() noexcept {
    if (!stream_.may_write(ready_at_)) return false;
    waiter_.outcome = stream_.write_outcome();
    return true;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return stream_.wait(waiter_, waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<void> await_resume() const noexcept { return waiter_.outcome; }

 private:
  detail::stream_state& stream_;
  std::size_t ready_at_;
  detail::socket_waiter waiter_;
};

/// Who is at the other end of a Unix socket, as the kernel noted when it connected or listened.
struct peer_credentials {
  pid_t pid;
  uid_t uid;
  gid_t gid;
};

class tcp_stream {
 public:
  static constexpr std::size_t high_watermark = detail::stream_state::high_watermark;
  static constexpr std::size_t low_watermark = detail::stream_state::low_watermark;
  static constexpr std::size_t prepare_most_bytes = write_queue::prepare_most_bytes;

  /// Connects; errc::refused, errc::timed_out, errc::unavailable and the like say why not.
  [[nodiscard]] static task<result<tcp_stream>> connect(event_loop& loop, endpoint to);

  /// For listeners: takes the descriptor over.
  tcp_stream(event_loop& loop, descriptor& socket)
      : state_{new detail::stream_state{loop, socket}} {}
  /// Takes over what loosen() gave on another shard.
  [[nodiscard]] static result<tcp_stream> adopt(event_loop& loop,
                                                std::unique_ptr<loose_socket> loose);
  tcp_stream(tcp_stream&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  tcp_stream& operator=(tcp_stream&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~tcp_stream() {
    if (state_ != nullptr) state_->abandon();
  }
  /// Ends it as its destruction does, but gives up after `longest` what the peer does not take.
  void end_within(duration longest) noexcept {
    if (state_ != nullptr) std::exchange(state_, nullptr)->abandon(longest);
  }

  /// The next bytes, at most 16 KiB, in a buffer of the shard's pool.
  [[nodiscard]] stream_read read() noexcept { return stream_read{*state_}; }
  /// The next bytes, copied into `into`; what does not fit waits for the next read. Gives how many.
  [[nodiscard]] task<result<std::size_t>> read(std::span<char> into);

  /// What was read and is for the next reader, who gets it first: what came behind a preamble. At
  /// most one buffer waits so.
  void put_back(buffer_ref&& bytes) noexcept { state_->unread = std::move(bytes); }

  [[nodiscard]] stream_write write(buffer_ref&& bytes) {
    state_->queue().append(std::move(bytes));
    return written();
  }
  [[nodiscard]] stream_write write(std::string&& text) {
    state_->queue().append(std::move(text));
    return written();
  }
  [[nodiscard]] stream_write write(std::string_view text) {
    state_->queue().append(text);
    return written();
  }
  [[nodiscard]] stream_write write(const char* text) { return write(std::string_view{text}); }
  [[nodiscard]] stream_write write(std::span<const std::byte> bytes) {
    return write(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  /// Borrowed bytes do not compile.
  template <class Borrowed>
    requires(std::same_as<std::remove_const_t<Borrowed>, std::string> ||
             std::same_as<std::remove_const_t<Borrowed>, buffer_ref>)
  stream_write write(Borrowed&) {
    static_assert(!sizeof(Borrowed),
                  "write() takes ownership: write(std::move(bytes)) gives them away, "
                  "write(std::string_view{bytes}) copies a string");
    return written();
  }

  /// For writers that format in place: room for `size_bytes` <= prepare_most_bytes, then
  /// commit(). What is committed leaves at the end of the turn, or with the next write or flush.
  [[nodiscard]] std::span<char> prepare(std::size_t size_bytes) {
    return state_->queue().prepare(size_bytes);
  }
  void commit(std::size_t size_bytes) noexcept {
    state_->queue().commit(size_bytes);
    state_->pump_later();
  }
  /// Queues without sending: as commit(), for a body that is its own memory.
  void append(std::string&& text) {
    state_->queue().append(std::move(text));
    state_->pump_later();
  }
  void append(shared_text text) {
    state_->queue().append(std::move(text));
    state_->pump_later();
  }

  /// Sends of a file, from `offset` on, what is in memory and what the kernel has room for, at most
  /// `size_bytes`, without a copy; what changes in the file until it has been delivered may be
  /// delivered so. Gives how many bytes; 0: none, as when something is queued, the stream is
  /// secured or there is no such way, and write() is to do it.
  [[nodiscard]] std::size_t send_from(const file& from, std::uint64_t offset,
                                      std::size_t size_bytes) noexcept;

  [[nodiscard]] stream_write flush() noexcept {
    state_->pump();
    return {*state_, 0, 0};
  }
  /// Waits until the queue is below the high watermark, as write() does.
  [[nodiscard]] stream_write drain() noexcept { return written(); }
  /// Sends what the kernel takes now. False: more than the high watermark is left, or sending has
  /// failed; drain() waits, or says why.
  [[nodiscard]] bool pump() noexcept {
    state_->pump();
    return state_->may_write(high_watermark) && state_->write_outcome().has_value();
  }
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return state_->queue().size(); }

  /// Of what has been written: the bytes that the peer has not taken, whether they are queued here
  /// or in the kernel, which may hold megabytes. Asks the kernel.
  [[nodiscard]] std::size_t untaken_bytes() const noexcept {
    return queued_bytes() + state_->loop().io().unacknowledged_bytes(state_->socket());
  }

  /// Whether bytes have come that nobody has read yet. Asks the kernel.
  [[nodiscard]] bool has_input() const noexcept { return state_->has_input(); }

  /// Whether the peer is still there, as far as the kernel knows. Asks it; takes nothing of what
  /// has come. Who has closed is silent at first, and gone once it has refused what was sent to it.
  [[nodiscard]] peer_state state_of_peer() const noexcept {
    return state_->loop().io().state_of_peer(state_->socket());
  }

  /// As shutdown(), without waiting for it.
  void end_output() noexcept { state_->end_output(); }
  /// Sends nothing more: what is queued is dropped, and who waits to write is told
  /// errc::cancelled.
  void give_up_output() noexcept { state_->give_up_output(); }
  /// Flushes, then tells the peer that no more will come. Reading goes on.
  [[nodiscard]] task<result<void>> shutdown();
  /// Flushes, waits until the kernel has let go of the connection, and closes it. The stream is
  /// then empty.
  [[nodiscard]] task<result<void>> close();

  /// Takes the connection off this shard. Only before the first read and write. The stream is then
  /// empty.
  [[nodiscard]] std::unique_ptr<loose_socket> loosen();

  [[nodiscard]] bool is_open() const noexcept { return state_ != nullptr; }
  [[nodiscard]] result<endpoint> local_endpoint() const;
  [[nodiscard]] result<endpoint> peer_endpoint() const;
  /// errc::unsupported for what is no Unix socket of the kernel.
  [[nodiscard]] result<peer_credentials> peer() const;
  /// What was agreed with the other side, and who that is. nullptr: the stream is not secured.
  [[nodiscard]] const tls_info* tls() const noexcept;

 private:
  friend detail::tls_access;
  friend class stream_receiver;
  explicit tcp_stream(detail::stream_state& state) noexcept : state_{&state} {}

  [[nodiscard]] stream_write written() noexcept {
    state_->pump();
    return {*state_, high_watermark, low_watermark};
  }

  detail::stream_state* state_;
};

}  // namespace weft::net
