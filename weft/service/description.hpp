// What a program consists of at a moment, as plain data: its services and who needs whom, what its
// loops have to do, where its tasks wait, what has become of its events.
//
// Contract: values, which refer to nothing but type names; made by container::describe(),
// introspection.hpp and --print-graph, and written as JSON and as Graphviz here. `id` names a
// service within its shard and description only. Any thread.
//
//   std::fputs(to_graphviz({{shard}}).c_str(), stdout);    // | dot -Tsvg > services.svg
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <weft/loop/loop_gauges.hpp>
#include <weft/service/event_record.hpp>
#include <weft/service/service_description.hpp>

namespace weft {

/// Tasks that wait in the same place.
struct task_description {
  std::size_t count = 0;
  /// Every co_await they are suspended in, from the spawned coroutine inwards.
  std::vector<std::string> waits_in{};
};

/// What a loop has to do, and has done.
struct loop_description {
  std::size_t timers = 0;
  std::size_t operations = 0;  // the kernel has not answered yet
  loop_gauges gauges{};
};

struct event_description {
  std::size_t queued = 0;
  std::size_t under_way = 0;  // to other shards
  std::size_t running = 0;    // coroutines of handlers
  std::vector<event_statistics> types{};
};

struct shard_description {
  unsigned shard = 0;
  std::vector<service_description> services{};
  // Of one that runs.
  std::optional<loop_description> loop{};
  std::vector<task_description> tasks{};
  /// Where it has an event_bus.
  std::optional<event_description> events{};
};

struct application_description {
  std::vector<shard_description> shards{};
};

/// With the members above.
[[nodiscard]] std::string to_json(const application_description& of);
/// The services as a directed graph, a cluster a shard, for dot: an arrow from each to whom it
/// needs; dashed where that is optional, dotted to each of many, red to what nobody provides. What
/// is lent and nobody needs is left out.
[[nodiscard]] std::string to_graphviz(const application_description& of);

}  // namespace weft
