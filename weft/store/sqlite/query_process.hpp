// A process that runs queries (query_child.hpp), as the one that has started it sees it.
//
// Problem: it must end at any moment, whatever it does, and nobody is to wait for it longer than
// that takes. Contract: start() makes it, with nothing of this process but its channel and stderr,
// and does not wait for it to be ready; send() and receive() exchange messages with it on the loop.
// What comes from it is checked for its size here, and by query_message.hpp for the rest. end()
// kills it, and returns once it is gone and holds no lock of the database any more; a process that
// the kernel keeps for longer than end_within is named in the log. The destructor ends it, too, but
// blocks for that. Of one shard.
//
//   auto made = query_process::start({"/proc/self/exe", "/data", "shop", 128U << 20U});
//   if (auto sent = co_await made->send(loop, bytes); !sent) ...
//   co_await made->end(loop);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include <weft/base/result.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/sqlite/handle.hpp>

namespace weft::store::sqlite {

struct query_process_start {
  std::string program;
  std::string directory;
  std::string database;
  std::uint64_t memory_bytes = 0;
  duration busy_timeout{};
};

class query_process {
 public:
  static constexpr duration end_within = std::chrono::seconds{5};

  /// Any thread, on which it ends when that ends. errc::exhausted: no memory, processes or
  /// descriptors are left.
  [[nodiscard]] static result<query_process> start(const query_process_start& from);
  query_process(query_process&& other) noexcept
      : pid_{std::exchange(other.pid_, -1)},
        end_watch_{std::exchange(other.end_watch_, -1)},
        channel_{std::exchange(other.channel_, -1)},
        received_{std::move(other.received_)},
        taken_{other.taken_} {}
  query_process& operator=(query_process&& other) noexcept;
  ~query_process() { end_here(); }

  /// errc::closed: it has ended, or does not keep to the protocol.
  [[nodiscard]] borrowing_task<result<void>> send(event_loop& loop,
                                                  std::string_view message WEFT_LIFETIME_BOUND);
  /// The next message's body, which is good until the next call.
  [[nodiscard]] task<result<std::string_view>> receive(event_loop& loop);
  /// Whether the next receive() returns at once.
  [[nodiscard]] bool has_received() const noexcept { return size_of_next() <= waiting_bytes(); }

  /// Heeds no stop request and no deadline.
  [[nodiscard]] task<void> end(event_loop& loop);
  /// As waitpid() has it; of one that has ended.
  [[nodiscard]] int exit_status() const noexcept { return exit_status_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  query_process(pid_t pid, int end_watch, int channel) noexcept
      : pid_{pid}, end_watch_{end_watch}, channel_{channel} {}
  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return received_.size() - taken_; }
  /// With its head; more than a message may have: what came is none.
  [[nodiscard]] std::size_t size_of_next() const noexcept;
  [[nodiscard]] result<bool> read_some();
  void kill() noexcept;
  void end_here() noexcept;
  [[nodiscard]] bool reap() noexcept;
  void close_all() noexcept;

  pid_t pid_ = -1;
  int end_watch_ = -1;  // a pidfd; -1: the kernel has none
  int channel_ = -1;
  std::string received_;
  std::size_t taken_ = 0;  // of it
  int exit_status_ = 0;
};

}  // namespace weft::store::sqlite
