// A program of services on a host of a simulated world: what application::run() does, on shards
// that are turns of one thread.
//
// Problem: services must be right in every order in which shards come, with every failure, and in
// the midst of their start or end; an application runs on threads, where no order comes back.
// Contract: add<T>() says what application::add() says, .single() too, so that one function, given
// either, composes both; prepare() has more said on each shard, such as what stands for the world
// outside. run() is the main of each shard: it makes a container with what one of an application
// has, the shard's event_loop&, its everywhere& and the program's net::address_book& among it, and
// starts its services, those of shard 0 before the others'; then it runs `meanwhile`, or waits
// until the host is to end, and stops them, within stop_timeout. False: they did not start, or not
// stop, without an error, and the other shards are asked to end. What `meanwhile` throws leaves
// when they have stopped. A host that crashes stops them unseen, and begins anew with other
// objects. One host a program; no configuration is read. One thread.
//
//   sim_program shop;
//   shop.add<order_book>().single();
//   shop.add<order_desk>();
//   world.add_host("shop", 2).serves([&](sim_shard& shard) -> task<void> {
//     world.expect(co_await shop.run(shard) || shard.crashed(), "the shop opens and closes");
//   });
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/address_book.hpp>
#include <weft/service/added_service.hpp>
#include <weft/service/container.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/sim_world.hpp>

namespace weft::testing {

struct sim_program_options {
  /// How long services have to start, in the world's time; an application waits for ever.
  duration start_timeout = duration::max();
  /// And to stop.
  duration stop_timeout = std::chrono::seconds{10};
};

class sim_program {
 public:
  using preparation = unique_function<void(container&, sim_shard&)>;
  /// On each shard, between the start and the stop of its services.
  using body = unique_function<task<void>(container&, sim_shard&)>;

  explicit sim_program(sim_program_options bounds = {}) noexcept : bounds_{bounds} {}
  sim_program(const sim_program&) = delete;
  sim_program& operator=(const sim_program&) = delete;

  /// One T on every shard, from copies of these options.
  template <class T>
  added_service<T> add(options_of<T> options = {}) {
    added_service<T> added;
    prepare([kept = std::move(options), said = added.said(), single = added.single_as()](
                container& services, sim_shard&) {
      added_service<T>::install(services, kept, *said, *single);
    });
    return added;
  }
  /// Calls `more` on each shard, in the order of add() and prepare(), before services are made.
  void prepare(preparation more) { preparations_.push_back(std::move(more)); }

  [[nodiscard]] task<bool> run(sim_shard& shard);
  [[nodiscard]] task<bool> run(sim_shard& shard, body meanwhile);

 private:
  /// What a shard hears of the first one.
  struct signal {
    event told;
    bool is_up = false;
    bool has_begun = false;  // the shard that hears it
  };
  /// What the shards of a host share until it begins anew.
  struct life {
    explicit life(unsigned shards) : metrics{{.shards = shards}} {
      for (unsigned i = 0; i < shards; ++i) signals.emplace_back();
    }
    net::address_book addresses;
    telemetry::registry metrics;
    std::deque<signal> signals;  // by shard
  };
  [[nodiscard]] std::shared_ptr<life> join_life(sim_shard& shard);
  [[nodiscard]] static task<bool> may_start(life& shared, sim_shard& shard);
  static task<void> tell_others(life& shared, bool is_up);
  [[nodiscard]] environment bounded(sim_shard& shard, duration length) const noexcept;

  sim_program_options bounds_;
  std::vector<preparation> preparations_;
  std::shared_ptr<life> life_;
};

}  // namespace weft::testing
