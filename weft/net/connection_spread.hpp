// Spreading the connections of one address evenly over the shards that serve it.
//
// Problem: the kernel gives a newcomer to a listener by a hash of its addresses, without a look at
// who has how many already. Where connections are few and stay, some shards get twice the work of
// others. Contract: each shard has a place, and says how many connections it serves; who accepts
// while another serves fewer by two or more passes the connection on, before anything has been read
// from it. It is lost by no race with a shard that stops: close() waits for what is on its way, and
// what finds no shard any more comes back. All of a place is for its shard's thread; the spread is
// shared. Passing costs an allocation, and a message.
//
//   net::spread_place place{spread, loop, [&](net::tcp_stream one) { serve(std::move(one)); }};
//   place.set_load(connections);
//   if (!place.pass_on(client)) serve(std::move(client));
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/base/unique_function.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft {
class mesh_port;
struct message;
}  // namespace weft

namespace weft::net {

class spread_place;

/// What the places have in common.
class connection_spread {
 public:
  explicit connection_spread(unsigned shards)
      : boards_{std::make_unique<board[]>(shards)}, shards_{shards} {}

 private:
  friend class spread_place;
  /// Of one shard. Its own line of the cache: it is written whenever a client comes or goes.
  struct alignas(64) board {
    std::atomic<bool> is_open{false};
    std::atomic<std::uint32_t> load{0};
    std::atomic<std::uint32_t> coming{0};  // on their way to it
    std::atomic<std::uint32_t> going{0};   // passed on by it, and not arrived
    spread_place* place = nullptr;         // its shard's thread's alone
  };

  std::unique_ptr<board[]> boards_;
  unsigned shards_;
};

/// Where one shard takes part.
class spread_place {
 public:
  using admit_function = unique_function<void(tcp_stream)>;

  /// `loop` is a shard of a mesh, and has no other place in this spread. `admit` is called for what
  /// others pass on.
  spread_place(std::shared_ptr<connection_spread> spread, event_loop& loop, admit_function admit);
  spread_place(const spread_place&) = delete;
  spread_place& operator=(const spread_place&) = delete;
  /// Cuts what is still on its way.
  ~spread_place();

  void set_load(std::size_t connections) noexcept {
    own().load.store(static_cast<std::uint32_t>(connections), std::memory_order_relaxed);
  }

  /// True: another shard will serve the client, `stream` is empty. False: none has fewer.
  [[nodiscard]] bool pass_on(tcp_stream& stream);

  /// From now on nobody passes anything on to here. Returns when all that was on its way has
  /// arrived, or at the deadline of its task.
  task<void> close();

 private:
  struct passing;
  using board = connection_spread::board;

  [[nodiscard]] board& own() const noexcept;
  [[nodiscard]] unsigned least_loaded() const noexcept;
  void admit(std::unique_ptr<loose_socket> socket) noexcept;
  static void arrived(message& item, mesh_port* there) noexcept;

  std::shared_ptr<connection_spread> spread_;
  event_loop& loop_;
  admit_function admit_;
};

}  // namespace weft::net
