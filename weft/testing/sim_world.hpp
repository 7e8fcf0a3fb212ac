// A world of hosts on one thread, decided by one number: what services are tested in when all that
// can go wrong is to go wrong.
//
// Problem: a service is right only if it is right in every order of events, and with every failure
// of the network; a test on a machine sees one order, and cannot see it again. Contract: hosts have
// shards, each with a loop of its own and a place in the host's mesh; what runs on them is written
// once, as for a machine. From the seed follow the network's latency, its faults, which shard has
// the next turn, in the midst of another's perhaps, and what dice() gives: the same seed gives the
// same run. run() returns when all hosts are done and nothing is
// left (tasks, timers, buffers, descriptors, operations); it throws sim_failure, which names the
// seed and how to replay it, when a main throws, an expectation fails, nothing can go on, or
// nothing ends. Faults stop some time; what is asked for then must be had. WEFT_SEED=n replays:
// tests take their seed from seed_or(). An assertion that fails on the way names the seed, too.
//
// A host that crashes is cut off; all it waits for fails, its tasks are asked to stop and run to
// their end unseen, and then its main begins anew. What they find in this time is no finding:
// shard.crashed() says so. What a main keeps across crashes lives outside of it, as on a disk.
// A service's main is asked to stop when all hosts that are none are done.
//
//   sim_world world{sim_world::seed_or(1)};
//   sim_host_box& server = world.add_host("server", 2);
//   server.serves([&](sim_shard& shard) -> task<void> { ... });
//   world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
//     auto stream = co_await net::tcp_stream::connect(shard.loop(), server.endpoint(80));
//     world.expect(answer == "hello", "the answer is the server's");
//   });
//   world.run();
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/random.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/sim/sim_network.hpp>
#include <weft/net/endpoint.hpp>

namespace weft::testing {

class sim_world;
class sim_host_box;

/// What is thrown when a world goes wrong.
class sim_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A shard of a host that is up, for its main.
class sim_shard {
 public:
  sim_shard(sim_host_box& owner, unsigned index);
  sim_shard(const sim_shard&) = delete;
  sim_shard& operator=(const sim_shard&) = delete;

  [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] sim_host_box& host() noexcept { return host_; }
  /// Whether its host has died: what happens now happens to nobody.
  [[nodiscard]] bool crashed() const noexcept;

 private:
  friend class sim_world;
  friend class sim_host_box;
  class keeper;
  /// Its loop is no more.
  [[nodiscard]] bool ended() const noexcept { return loop_ == nullptr; }
  /// Whether it sleeps although another shard has something for it, and nobody wakes it.
  [[nodiscard]] bool oversleeps() const noexcept;
  [[nodiscard]] bool can_run() const noexcept;
  [[nodiscard]] time_point sleeps_until() const noexcept;
  [[nodiscard]] sim_backend& io() const noexcept;
  [[nodiscard]] std::string leftovers() const;
  void turn();
  void end();
  /// For a loop that cannot be ended.
  void leave_behind() noexcept;
  task<void> live();
  task<void> stay();

  sim_host_box& host_;
  unsigned index_;
  runnable* keeper_ = nullptr;
  std::unique_ptr<event_loop> loop_;
};

class sim_host_box {
 public:
  using main_function = unique_function<task<void>(sim_shard&)>;

  sim_host_box(sim_world& world, sim_host& host, std::string name, unsigned shards)
      : world_{world}, host_{host}, name_{std::move(name)}, shard_count_{shards} {}
  sim_host_box(const sim_host_box&) = delete;
  sim_host_box& operator=(const sim_host_box&) = delete;

  /// `main` runs on each shard. Until the world ends, or until it returns.
  void serves(main_function main) { set_main(std::move(main), true); }
  void runs(main_function main) { set_main(std::move(main), false); }
  /// It dies where the plan says so.
  void may_crash() noexcept { host_.is_lasting = false; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] net::endpoint endpoint(std::uint16_t port) const noexcept;
  /// While it is up.
  [[nodiscard]] sim_shard& shard(std::size_t index) noexcept { return *shards_[index]; }
  [[nodiscard]] std::size_t shards() const noexcept { return shards_.size(); }

 private:
  friend class sim_world;
  friend class sim_shard;
  void set_main(main_function main, bool is_service) noexcept {
    main_ = std::move(main);
    is_service_ = is_service;
  }
  void boot();
  void request_stop();
  void main_ended();
  /// Lets its shards run to their end, in no time.
  void run_down();
  /// Ends those shards that have nothing more to do. Whether all have ended.
  bool end_finished();

  sim_world& world_;
  sim_host& host_;
  std::string name_;
  unsigned shard_count_;
  main_function main_;
  bool is_service_ = false;
  bool is_done_ = false;
  std::size_t mains_ended_ = 0;
  std::unique_ptr<mesh> mesh_;  // while it is up
  std::deque<std::unique_ptr<sim_shard>> shards_;
};

class sim_world : private sim_driver {
 public:
  /// With what the seed says goes wrong, or with a plan of one's own.
  explicit sim_world(std::uint64_t seed);
  sim_world(std::uint64_t seed, const sim_plan& plan);
  sim_world(const sim_world&) = delete;
  sim_world& operator=(const sim_world&) = delete;
  ~sim_world() override;

  /// Calls `test` with every seed from 1 to `count`; where WEFT_SEED is set, with that one alone.
  template <class Test>
  static void for_seeds(std::uint64_t count, Test test) {
    const std::uint64_t only = seed_or(0);
    const std::uint64_t last = only != 0 ? only : count;
    for (std::uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) test(seed);
  }
  /// WEFT_SEED where it is set.
  [[nodiscard]] static std::uint64_t seed_or(std::uint64_t given);

  sim_host_box& add_host(std::string name, unsigned shards = 1);
  void run();

  /// For the work that is tested, which has numbers of its own.
  [[nodiscard]] random& dice() noexcept { return dice_; }
  [[nodiscard]] time_point now() const noexcept { return network_.now(); }
  /// The world fails if `holds` does not.
  void expect(bool holds, std::string_view what) {
    if (!holds) [[unlikely]]
      fail(what);
  }
  /// What must hold after every turn.
  void always(std::string what, unique_function<bool()> holds);
  void fail(std::string_view why);

  [[nodiscard]] const sim_network& network() const noexcept { return network_; }
  [[nodiscard]] std::uint64_t fingerprint() noexcept { return network_.trace().value(); }
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }

 private:
  friend class sim_shard;
  friend class sim_host_box;
  struct invariant {
    std::string what;
    unique_function<bool()> holds;
  };
  void crashed(sim_host& host) override;
  void restarts(sim_host& host) override;
  void overlaps(sim_host& host) override;
  [[nodiscard]] bool step();
  [[nodiscard]] std::string who_is_left() const;
  void note_able(sim_host_box& host);
  [[nodiscard]] sim_shard* draw_able();
  [[nodiscard]] std::uint64_t draw_shuffle_seed() noexcept {
    return plan_.shuffles ? network_.dice().next() : 0;
  }
  [[nodiscard]] time_point next_moment() const noexcept;
  void turn(sim_shard& shard);
  void give_turn(sim_shard& shard);
  void see_to_ends();
  void give_up();
  [[nodiscard]] std::string replay_text() const;

  std::uint64_t seed_;
  random dice_;
  sim_plan plan_;
  sim_network network_;
  std::deque<sim_host_box> hosts_;
  std::vector<invariant> invariants_;
  std::vector<sim_shard*> able_;
  std::string failure_;
  std::uint64_t turns_ = 0;
  sim_shard* in_turn_ = nullptr;
  bool services_told_ = false;
  std::size_t frames_before_;
};

}  // namespace weft::testing
