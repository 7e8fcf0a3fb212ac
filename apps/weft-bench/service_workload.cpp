#include "service_workload.hpp"

#include <cstdio>
#include <memory>
#include <vector>

#include <weft/base/random.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/container.hpp>
#include <weft/service/logger.hpp>

#include "workload_loop.hpp"

namespace weft::bench {
namespace {

/// What has happened to the services of one thread.
struct tally {
  std::uint64_t started = 0;
  std::uint64_t stopped = 0;
};

class node {
 public:
  explicit node(tally& all) noexcept : all_{all} {}
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  void start() noexcept { ++all_.started; }
  void stop() noexcept { ++all_.stopped; }

 private:
  tally& all_;
};

struct alone : node {
  alone(tally& all, logger& log) noexcept : node{all}, log_{log} {}
  logger& log_;
};
struct linked : node {
  linked(tally& all, logger& log, node&) noexcept : node{all}, log_{log} {}
  logger& log_;
};
struct joined : node {
  joined(tally& all, logger& log, node&, node&, node&) noexcept : node{all}, log_{log} {}
  logger& log_;
};

struct alone_now : node {
  alone_now(tally& all, maybe<logger> log) noexcept : node{all}, log_{log} {}
  maybe<logger> log_;
};
struct linked_now : node {
  linked_now(tally& all, maybe<logger> log, maybe<node>) noexcept : node{all}, log_{log} {}
  maybe<logger> log_;
};
struct joined_now : node {
  joined_now(tally& all, maybe<logger> log, maybe<node>, maybe<node>, maybe<node>) noexcept
      : node{all}, log_{log} {}
  maybe<logger> log_;
};

constexpr std::uint64_t graph_seed = 1;

template <class Alone, class Linked, class Joined>
void add_nodes(container& services, const workload_options& options) {
  std::vector<service_handle> added;
  added.reserve(options.services);
  random dice{graph_seed};
  const auto any = [&] { return added[dice.below(added.size())]; };
  while (added.size() < options.services) {
    if (added.empty() || options.graph == service_graph_shape::loggers) {
      added.push_back(services.add<Alone>().template as<node>().handle());
    } else if (options.graph == service_graph_shape::random) {
      auto next = services.add<Joined>();
      next.template as<node>();
      for (int i = 0; i < 3; ++i) next.template bind<node>(any());
      added.push_back(next.handle());
    } else {
      const bool is_chain = options.graph == service_graph_shape::chain;
      const service_handle needed = is_chain ? added.back() : added.front();
      added.push_back(
          services.add<Linked>().template as<node>().template bind<node>(needed).handle());
    }
  }
}

task<void> start_and_stop(container& services, bool& is_right) {
  const result<void> up = co_await services.start();
  const result<void> down = co_await services.stop();
  is_right = is_right && up && down;
}

void run_one_start(event_loop& loop, const workload_options& options, tally& all, bool& is_right) {
  container services;
  services.provide(all);
  services.add<logger>().per_consumer();
  if (options.injection == injection_form::constructor)
    add_nodes<alone, linked, joined>(services, options);
  else
    add_nodes<alone_now, linked_now, joined_now>(services, options);
  loop.spawn(start_and_stop(services, is_right));
  loop.run();
}

struct needed_service : node {
  needed_service(tally& all, logger&) noexcept : node{all} {}
};
struct needing_service : node {
  needing_service(tally& all, logger&, needed_service&) noexcept : node{all} {}
};

task<void> stop_and_start(container& services, service_handle needed, std::uint64_t count,
                          bool& is_right) {
  const result<void> up = co_await services.start();
  is_right = up.has_value();
  for (std::uint64_t i = 0; i < count && is_right; ++i) {
    const result<void> down = co_await services.stop(needed);
    const result<void> again = co_await services.start(needed);
    is_right = down && again;
  }
  const result<void> down = co_await services.stop();
  is_right = is_right && down;
}

}  // namespace

workload_share run_starts(const workload_options& options) {
  const std::unique_ptr<event_loop> loop = make_workload_loop();
  tally all;
  workload_share done;
  for (std::uint64_t i = 0; i < options.count && done.is_right; ++i)
    run_one_start(*loop, options, all, done.is_right);
  done.services = options.services;
  done.dispatched = all.started;
  done.is_right = done.is_right && all.started == options.count * options.services &&
                  all.stopped == all.started;
  return done;
}

workload_share run_start_stops(const workload_options& options) {
  const std::unique_ptr<event_loop> loop = make_workload_loop();
  tally all;
  workload_share done;
  container services;
  services.provide(all);
  services.add<logger>().per_consumer();
  const service_handle needed = services.add<needed_service>().handle();
  services.add<needing_service>();
  loop->spawn(stop_and_start(services, needed, options.count, done.is_right));
  loop->run();
  const std::uint64_t each = options.count + 1;
  done.dispatched = all.started / 2 - 1;
  done.is_right = done.is_right && all.started == 2 * each && all.stopped == 2 * each;
  return done;
}

}  // namespace weft::bench
