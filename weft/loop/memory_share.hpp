// What a shard holds of its process's memory budget, and who waits for some of it.
//
// Problem: bodies, replies, batches and queries each need memory for a while, and together must not
// need more than there is. Contract: try_reserve() and reserve() take bytes before they are used,
// and a reservation gives them back when it ends. reserve() waits in line while there are too few:
// first come, first served within a priority, more urgent priorities first; the wait obeys the stop
// request and the deadline of its task, and holds nothing. Give it a deadline. add() counts bytes
// that are in memory already. If that is more than the limit, or somebody waits, shards drop the
// peers that take nothing of what is held for them: whoever has stood in line longest goes first.
// Counting is a few instructions and no atomic operation: the budget is asked for slices. One
// shard; gauges() from any thread.
//
//   auto memory = co_await with_timeout(std::chrono::seconds{1},
//       reserve_memory(loop.memory(), memory_kind::bodies, length, memory_priority::low));
//   if (!memory) co_return refuse(status::service_unavailable);
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/memory_budget.hpp>
#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/timer.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/loop/connection_memory.hpp>
#include <weft/loop/loop_gauges.hpp>
#include <weft/loop/slow_peer.hpp>

namespace weft {

class event_loop;
class memory_share;

/// Bytes of a shard's memory that are somebody's until it ends. Its shard outlives it.
class [[nodiscard]] memory_reservation {
 public:
  memory_reservation() noexcept = default;
  memory_reservation(memory_reservation&& other) noexcept
      : share_{std::exchange(other.share_, nullptr)},
        bytes_{std::exchange(other.bytes_, 0)},
        kind_{other.kind_} {}
  memory_reservation& operator=(memory_reservation&& other) noexcept {
    if (this == &other) return *this;
    reset();
    share_ = std::exchange(other.share_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    kind_ = other.kind_;
    return *this;
  }
  ~memory_reservation() { reset(); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] explicit operator bool() const noexcept { return share_ != nullptr; }
  /// Gives it back now.
  void reset() noexcept;
  /// Counts so much more, which is in memory already.
  void grow(std::size_t more_bytes) noexcept;
  /// Gives back what is above `size_bytes`.
  void shrink(std::size_t size_bytes) noexcept;
  /// A reservation of its own for `size_bytes` of it, or for all that it has; of another kind.
  [[nodiscard]] memory_reservation split(std::size_t size_bytes, memory_kind as) noexcept;
  /// Takes over what `more` has, which is of the same shard.
  void join(memory_reservation more) noexcept;

 private:
  friend class memory_share;
  memory_reservation(memory_share& of, memory_kind kind, std::size_t size_bytes) noexcept
      : share_{&of}, bytes_{size_bytes}, kind_{kind} {}

  memory_share* share_ = nullptr;
  std::size_t bytes_ = 0;
  memory_kind kind_{};
};

/// What a shard says of its memory.
struct memory_gauges {
  std::array<std::uint64_t, memory_kinds> bytes{};  // in use, by kind
  std::uint64_t waits = 0;                          // reservations that had to wait
  std::uint64_t refused = 0;                        // that did not come about
  std::uint64_t dropped_peers = 0;
};

class memory_share final : private memory_budget::member, private runnable, private timer {
  class reserve_wait;

 public:
  /// Of `loop`, which has it.
  memory_share(memory_budget& budget, event_loop& loop);
  memory_share(const memory_share&) = delete;
  memory_share& operator=(const memory_share&) = delete;
  ~memory_share() override;

  /// Other shards ask this one no more. Before the loop's mailbox ends.
  void leave() noexcept;

  [[nodiscard]] memory_budget& budget() const noexcept { return budget_; }

  void add(memory_kind kind, std::size_t size_bytes) noexcept {
    note(kind, size_bytes);
    if (used_ > drawn_) [[unlikely]]
      draw_anyway();
  }
  void remove(memory_kind kind, std::size_t size_bytes) noexcept {
    used_ -= size_bytes;
    in_use_[std::to_underlying(kind)].add(-std::uint64_t{size_bytes});
    if (drawn_ - used_ >= spare_most_) [[unlikely]]
      give_back();
  }
  /// add(), until the reservation ends.
  [[nodiscard]] memory_reservation hold(memory_kind kind, std::size_t size_bytes) noexcept {
    add(kind, size_bytes);
    return {*this, kind, size_bytes};
  }

  /// Whether so much is in use that nothing more of this priority is to be begun.
  [[nodiscard]] bool is_short(memory_priority as) const noexcept {
    return budget_.taken() > budget_.ceiling(as);
  }
  /// Whether so many bytes can be reserved at all, once nobody else is served.
  [[nodiscard]] bool may_ever_have(std::size_t size_bytes, memory_priority as) const noexcept {
    const std::size_t most = budget_.ceiling(as);
    if (size_bytes <= most / 4) [[likely]]
      return true;
    return size_bytes <= most && budget_.permanent_bytes() <= most - size_bytes;
  }
  /// Empty: there are not so many, or others wait for some.
  [[nodiscard]] memory_reservation try_reserve(memory_kind kind, std::size_t size_bytes,
                                               memory_priority as) noexcept;
  /// Awaitable, gives result<memory_reservation>. errc::limit_exceeded: there never are so many.
  reserve_wait reserve(memory_kind kind, std::size_t size_bytes, memory_priority as) noexcept;
  /// Of somebody who was refused after try_reserve(), and has not waited.
  void note_refused() noexcept { refused_.add(1); }

  /// `who` takes nothing, from now on; not in the line yet.
  void note_stalled(slow_peer& who, const slow_peer_kind& kind) noexcept;
  /// Takes `who` out of the line.
  void note_progress(slow_peer& who) noexcept { who.in_line_.unlink(); }

  /// What connections hold beside their requests, and which of them go if that is too much.
  [[nodiscard]] connection_memory& connections() noexcept { return connections_; }
  [[nodiscard]] std::size_t in_use(memory_kind kind) const noexcept {
    return in_use_[std::to_underlying(kind)].get();
  }

  /// Any thread.
  [[nodiscard]] memory_gauges gauges() const noexcept;

 private:
  friend class connection_memory;
  friend class memory_reservation;

  class [[nodiscard]] reserve_wait final : public waiter {
   public:
    reserve_wait(memory_share& of, memory_kind kind, std::size_t size_bytes,
                 memory_priority as) noexcept
        : share_{of}, bytes_{size_bytes}, kind_{kind}, priority_{as} {}
    [[nodiscard]] result<memory_reservation> await_resume() noexcept;

   private:
    friend class memory_share;
    friend waiter;
    wait_line& line() noexcept;
    bool take() noexcept;

    memory_share& share_;
    std::size_t bytes_;
    memory_kind kind_;
    memory_priority priority_;
    bool has_bytes_ = false;
  };

  void move(memory_kind from, memory_kind to, std::size_t size_bytes) noexcept {
    in_use_[std::to_underlying(from)].add(-std::uint64_t{size_bytes});
    in_use_[std::to_underlying(to)].add(size_bytes);
  }
  [[nodiscard]] time_point now() const noexcept;
  void note_dropped() noexcept { dropped_.add(1); }
  void note(memory_kind kind, std::size_t size_bytes) noexcept {
    used_ += size_bytes;
    in_use_[std::to_underlying(kind)].add(size_bytes);
  }
  [[gnu::noinline]] void draw_anyway() noexcept;
  [[gnu::noinline]] void give_back() noexcept;
  void give_back_but(std::size_t kept_bytes) noexcept;
  [[nodiscard]] bool take(std::size_t size_bytes, memory_priority as) noexcept;
  [[nodiscard]] bool others_wait(memory_priority as) noexcept;
  [[nodiscard]] reserve_wait* first_in_line() noexcept;
  void serve_lines() noexcept;
  void try_again_soon() noexcept;
  void ask_for_relief(std::size_t target_bytes) noexcept override;
  [[nodiscard]] std::size_t permanent_bytes() const noexcept override;
  void relieve(std::size_t target_bytes) noexcept;
  void drop(slow_peer& who) noexcept;
  static void on_asked(runnable& self) noexcept;
  static void on_retry(timer& self) noexcept;
  static constexpr timer_kind retry_kind{.on_expiry = &on_retry,
                                         .name = "another try to reserve memory"};

  memory_budget& budget_;
  event_loop& loop_;
  std::size_t used_ = 0;
  std::size_t drawn_ = 0;  // from the budget, in slices
  std::size_t spare_most_ = 2 * memory_budget::slice_bytes;
  std::array<gauge, memory_kinds> in_use_;
  std::array<wait_line, memory_priorities> lines_;
  intrusive_list<slow_peer, &slow_peer::in_line_> slow_;
  connection_memory connections_{*this};
  time_point relieved_at_ = time_point::min();
  std::atomic<std::size_t> asked_target_{memory_budget::unlimited};
  std::atomic<bool> is_asked_{false};
  bool has_left_ = false;
  gauge waits_, refused_, dropped_;
};

inline void memory_reservation::reset() noexcept {
  if (share_ == nullptr) return;
  std::exchange(share_, nullptr)->remove(kind_, std::exchange(bytes_, 0));
}

inline void memory_reservation::grow(std::size_t more_bytes) noexcept {
  bytes_ += more_bytes;
  share_->add(kind_, more_bytes);
}

/// reserve() as a task, for with_timeout().
[[nodiscard]] task<result<memory_reservation>> reserve_memory(memory_share& from, memory_kind kind,
                                                              std::size_t size_bytes,
                                                              memory_priority as);

}  // namespace weft
