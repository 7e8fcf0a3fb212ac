// N loops that send each other messages: what lies between the shards of a program.
//
// Problem: shards share nothing, so what one wants of another crosses as a message, without a lock,
// without an allocation, and without a system call unless the other sleeps. Contract: a mesh is
// made before its loops and outlives them; each loop is created with its place in it
// (loop_options). Between two shards that speak there is a bounded ring each way, made at the first
// word. A message is its sender's memory, sent by one shard only, and stays where it is until it
// has arrived. Messages from one shard to another arrive in order. A loop delivers them at the
// mailbox step of its turn, and wakes those it has written to after the flush step, each at most
// once a turn and only if it sleeps. When a ring is full, messages wait at the sender. Loops may be
// on threads of their own or take turns on one. mesh is for any thread, mesh_port for its loop's.
//
//   mesh shards{2};
//   auto loop = event_loop::create({.shards = &shards, .shard = 1});  // on a thread of its own
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/loop/doorbell.hpp>
#include <weft/loop/loop_gauges.hpp>
#include <weft/loop/message_ring.hpp>

namespace weft {

class event_loop;
class mesh_port;

/// What crosses: derived from, and embedded in whatever it is about.
struct message {
  /// Called once for each time it was sent: on the shard it was sent to, with that shard's port; or
  /// with nullptr on the sender's own, because the other has ended without looking at it.
  using arrival = void (*)(message&, mesh_port* there) noexcept;
  explicit message(arrival f) noexcept : on_arrival{f} {}

  arrival on_arrival;
  list_hook in_line;  // while it waits for room

 protected:
  ~message() = default;
};

struct mesh_options {
  /// Messages on their way from one shard to another; a power of two.
  std::uint32_t ring_capacity = 256;
};

class mesh {
 public:
  explicit mesh(unsigned size, mesh_options options = {});
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;
  ~mesh();

  [[nodiscard]] unsigned size() const noexcept { return size_; }

  /// Whether the loop of `shard` has ended, or will never be. Any thread.
  [[nodiscard]] bool has_ended(unsigned shard) const noexcept {
    return members_[shard].ended.load(std::memory_order_acquire);
  }
  /// Runs `work` on `shard`, at the start of a turn. errc::limit_exceeded: its mailbox is full;
  /// errc::unavailable: its loop has not begun; errc::closed: it has ended. Any thread.
  result<void> post(unsigned shard, unique_function<void()> work);
  /// Asks the tasks of `shard` to stop, now or when its loop begins. Never fails. Any thread.
  void request_stop(unsigned shard) noexcept;
  void request_stop() noexcept;
  /// What `shard` has done so far; zeros when its loop has not begun or has ended. Any thread.
  [[nodiscard]] loop_gauges gauges(unsigned shard) const noexcept;
  /// There will be no loop for `shard`: others need not wait for it.
  void give_up(unsigned shard) noexcept;

 private:
  friend class event_loop;
  friend class mesh_port;

  struct member {
    doorbell bell;
    std::atomic<bool> ended{false};
    mutable std::mutex mutex;
    event_loop* loop = nullptr;  // under mutex: while it lives
  };

  [[nodiscard]] std::atomic<message_ring*>& ring(unsigned from, unsigned to) noexcept {
    return rings_[static_cast<std::size_t>(from) * size_ + to];
  }
  [[nodiscard]] message_ring& open_ring(unsigned from, unsigned to);
  void ring_bell(unsigned shard, doorbell::bits place) noexcept;
  void enlist(unsigned shard, event_loop& loop) noexcept;
  void discharge(unsigned shard) noexcept;

  unsigned size_;
  mesh_options options_;
  std::unique_ptr<member[]> members_;
  std::unique_ptr<std::atomic<message_ring*>[]> rings_;
};

/// One loop's end of the mesh.
class mesh_port {
 public:
  mesh_port(mesh& shards, unsigned index, event_loop& loop);
  mesh_port(const mesh_port&) = delete;
  mesh_port& operator=(const mesh_port&) = delete;
  ~mesh_port();

  [[nodiscard]] mesh& shards() const noexcept { return mesh_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  [[nodiscard]] doorbell& bell() const noexcept;

  /// Before the first message to `peer`: makes the rings both ways, so that whoever answers
  /// allocates nothing. Throws std::bad_alloc.
  void connect(unsigned peer);
  /// Sends `item`, which neither waits nor is on its way.
  void send(unsigned peer, message& item) noexcept;
  /// True: it waited for room, and is not sent.
  [[nodiscard]] bool take_back(message& item) noexcept;

  /// Delivers what has come, at most `limit` messages, and says how many.
  unsigned drain(unsigned limit) noexcept { return has_messages() ? deliver(limit) : 0; }
  [[nodiscard]] bool has_messages() const noexcept {
    return leftover_ != 0 || bell().rung(doorbell::peers);
  }
  /// Whether drain() stopped at its limit.
  [[nodiscard]] bool has_leftovers() const noexcept { return leftover_ != 0; }
  /// Wakes those who sleep and have been written to.
  void flush() noexcept {
    if (!told_.empty()) tell();
  }
  /// Whether no message waits for room.
  [[nodiscard]] bool is_idle() const noexcept { return waiting_ == 0; }

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  struct link {
    message_ring* out = nullptr;
    intrusive_list<message, &message::in_line> waiting;
    bool told = false;  // in told_
  };

  unsigned deliver(unsigned limit) noexcept;
  [[nodiscard]] bool serve(unsigned peer, unsigned& left) noexcept;
  void send_waiting(unsigned peer) noexcept;
  void reclaim(unsigned peer) noexcept;
  void tell_later(unsigned peer) noexcept;
  void tell() noexcept;

  mesh& mesh_;
  unsigned index_;
  event_loop& loop_;
  std::unique_ptr<link[]> links_;  // by peer
  std::vector<unsigned> told_;     // whose bell is to be rung
  doorbell::bits leftover_ = 0;    // peers that drain() did not come to the end of
  unsigned first_bit_ = 0;         // whom drain() begins with: where it stopped
  std::size_t waiting_ = 0;        // messages, in all links
  std::uint64_t sent_ = 0;
};

}  // namespace weft
