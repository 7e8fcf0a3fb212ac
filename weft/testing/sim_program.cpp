#include <weft/testing/sim_program.hpp>

#include <exception>
#include <tuple>

#include <weft/base/assert.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/standard_services.hpp>

namespace weft::testing {
namespace {

task<void> until_told_to_end(container&, sim_shard& shard) { co_await until_stopped(shard.loop()); }

}  // namespace

/// A shard that begins once more begins another life.
std::shared_ptr<sim_program::life> sim_program::join_life(sim_shard& shard) {
  const unsigned shards = shard.loop().port()->shards().size();
  WEFT_ASSERT(life_ == nullptr || life_->signals.size() == shards,
              "a simulated program runs on one host");
  if (life_ == nullptr || life_->signals[shard.index()].has_begun)
    life_ = std::make_shared<life>(shards);
  life_->signals[shard.index()].has_begun = true;
  return life_;
}

task<bool> sim_program::may_start(life& shared, sim_shard& shard) {
  if (shard.index() == 0) co_return true;
  signal& first = shared.signals[shard.index()];
  std::ignore = co_await first.told.wait();
  co_return first.is_up;
}

task<void> sim_program::tell_others(life& shared, bool is_up) {
  for (unsigned other = 1; other < shared.signals.size(); ++other) {
    signal& waiting = shared.signals[other];
    std::ignore = co_await on(other, [&waiting, is_up] {
      waiting.is_up = is_up;
      waiting.told.set();
    });
  }
}

environment sim_program::bounded(sim_shard& shard, duration length) const noexcept {
  environment own{.runs_on = &shard.loop()};
  const time_point now = shard.loop().now();
  if (length < time_point::max() - now) own.until = deadline::at(now + length);
  return own;
}

task<bool> sim_program::run(sim_shard& shard) { return run(shard, &until_told_to_end); }

// Starts and stops heed bounds of their own, as a shard's of an application do, not the stop
// request that ends the time between them.
task<bool> sim_program::run(sim_shard& shard, body meanwhile) {
  const std::shared_ptr<life> shared = join_life(shard);
  container services;
  services.provide(shard.loop());
  services.provide(shared->addresses);
  for (preparation& each : preparations_) each(services, shard);
  detail::add_standard_services(services, shared->metrics, shard.index());

  const environment patient = bounded(shard, duration::max());
  if (!co_await may_start(*shared, shard).in(patient)) co_return false;
  const environment starting = bounded(shard, bounds_.start_timeout);
  const auto started = co_await services.start().in(starting);
  std::exception_ptr failure;
  if (started) {
    if (shard.index() == 0) co_await tell_others(*shared, true).in(patient);
    try {
      co_await meanwhile(services, shard);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  const environment stopping = bounded(shard, bounds_.stop_timeout);
  const auto stopped = co_await services.stop().in(stopping);
  if (shard.index() == 0 && !started) co_await tell_others(*shared, false).in(patient);
  const bool is_clean = started && stopped;
  if (!is_clean) shard.loop().port()->shards().request_stop();
  if (failure) std::rethrow_exception(failure);
  co_return is_clean;
}

}  // namespace weft::testing
