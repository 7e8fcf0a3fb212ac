// How many bytes a process may hold for its clients, in one number that all its shards share.
//
// Problem: limits of single connections do not add up to a limit. A thousand clients, each within
// its own bounds, can still use more memory than the machine, or the group the process runs in,
// has. Contract: shards take whole slices and keep account of what they do with them themselves
// (memory_share.hpp), so that an atomic is touched once for many requests. take() keeps to the
// ceiling of a priority: less urgent work leaves room for more urgent work. take_anyway() is for
// bytes that exist already and must be counted. Who is short of memory asks all members for relief.
// What the kernel, the program itself and its allocator use is not counted: the limit leaves room
// for it. Any thread; set_limit() before the members are made.
//
//   memory_budget budget{256_MiB};
//   if (budget.take(memory_budget::slice_bytes, memory_priority::low)) ...
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include <weft/base/intrusive_list.hpp>

namespace weft {

/// What memory is held for.
enum class memory_kind : std::uint8_t {
  buffers,   // slots of the loops' buffer pools, in use or not
  requests,  // that have not come whole, or wait to be answered
  bodies,    // of requests, gathered whole
  output,    // bytes that wait to be sent, or to be read by a handler
  shared,    // texts that many replies or messages refer to
  replies,   // while they are built
  queries,   // in SQL, while they run
  caches,
  connections  // what they hold beside their requests: TLS, WebSockets
};
inline constexpr std::size_t memory_kinds = 9;
/// As metrics name it. Static storage.
[[nodiscard]] std::string_view to_string(memory_kind kind) noexcept;

/// How much of the budget may be in use for something to be added.
enum class memory_priority : std::uint8_t {
  low,     // half: bodies of requests, which strangers decide about
  normal,  // three quarters: work on requests that were let in
  high     // all
};
inline constexpr std::size_t memory_priorities = 3;

class memory_budget {
 public:
  static constexpr std::size_t slice_bytes = std::size_t{256} * 1024;
  /// Half of what can be counted, so that sums do not overflow.
  static constexpr std::size_t unlimited = SIZE_MAX / 2;

  /// Part of a process: a shard.
  class member {
   public:
    member() = default;
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    virtual ~member() = default;

    /// Others need memory: the least that is dispensable is to be given back until at most
    /// `target_bytes` of the budget are taken. Any thread, and under the budget's lock.
    virtual void ask_for_relief(std::size_t target_bytes) noexcept = 0;
    /// Bytes that it holds until it leaves: caches. Any thread, and under the budget's lock.
    [[nodiscard]] virtual std::size_t permanent_bytes() const noexcept = 0;
    list_hook in_budget;
  };

  explicit memory_budget(std::size_t limit_bytes = unlimited) noexcept : limit_{limit_bytes} {}
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

  /// That of all loops that are given no other: unlimited until somebody sets its limit.
  [[nodiscard]] static memory_budget& of_process() noexcept;

  void set_limit(std::size_t limit_bytes) noexcept { limit_.store(limit_bytes); }
  [[nodiscard]] std::size_t limit() const noexcept {
    return limit_.load(std::memory_order_relaxed);
  }
  /// What may be taken in all where work of this priority is added.
  [[nodiscard]] std::size_t ceiling(memory_priority of) const noexcept;
  [[nodiscard]] std::size_t taken() const noexcept {
    return taken_.load(std::memory_order_relaxed);
  }

  /// False: that would be more than the ceiling, and nothing was taken.
  [[nodiscard]] bool take(std::size_t size_bytes, memory_priority as) noexcept;
  void take_anyway(std::size_t size_bytes) noexcept {
    taken_.fetch_add(size_bytes, std::memory_order_relaxed);
  }
  void give_back(std::size_t size_bytes) noexcept {
    taken_.fetch_sub(size_bytes, std::memory_order_relaxed);
  }

  /// How many shards share it.
  [[nodiscard]] std::size_t members() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

  /// Sum of the members' permanent_bytes(). Takes the lock: not for each request.
  [[nodiscard]] std::size_t permanent_bytes() noexcept;

  void join(member& who);
  /// None of its functions is called from now on.
  void leave(member& who);
  void ask_for_relief(std::size_t target_bytes) noexcept;

 private:
  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> taken_{0};
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  intrusive_list<member, &member::in_budget> members_;  // under mutex_
};

}  // namespace weft
