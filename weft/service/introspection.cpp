#include <weft/service/introspection.hpp>

#include <string>
#include <unordered_map>
#include <utility>

#include <weft/coro/task_dump.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/service/event_bus.hpp>

namespace weft {
namespace {

std::vector<task_description> tasks_of(event_loop& loop) {
  std::vector<task_description> all;
  std::unordered_map<std::string, std::size_t> known;
  for (const await_chain& task : unfinished_tasks(loop)) {
    const auto [at, is_new] = known.try_emplace(describe_briefly(task), all.size());
    if (is_new) {
      std::vector<std::string>& places = all.emplace_back().waits_in;
      for (const std::source_location& place : task) places.push_back(describe(place));
    }
    ++all[at->second].count;
  }
  return all;
}

}  // namespace

shard_description introspection::here() {
  shard_description told{
      .shard = loop_.shard(),
      .services = services_.describe(),
      .loop = loop_description{.timers = loop_.timers().armed_count(),
                               .operations = loop_.io().waiting_operations().size(),
                               .gauges = loop_.gauges()},
      .tasks = tasks_of(loop_),
      .events = {}};
  if (const event_bus* const events = services_.find<event_bus>())
    told.events = event_description{.queued = events->queued(),
                                    .under_way = events->under_way(),
                                    .running = events->running(),
                                    .types = events->statistics()};
  return told;
}

task<result<application_description>> introspection::everywhere() {
  application_description all;
  const unsigned shards = loop_.port() == nullptr ? 1 : loop_.port()->shards().size();
  for (unsigned each = 0; each < shards; ++each) {
    if (each == loop_.shard()) {
      all.shards.push_back(here());
      continue;
    }
    auto told = co_await remote<introspection>{each}.call(&introspection::here);
    if (told)
      all.shards.push_back(std::move(*told));
    else if (told.error() != errc::closed)
      co_return fail(told.error());
  }
  co_return all;
}

}  // namespace weft
