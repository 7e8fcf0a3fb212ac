#include <weft/loop/leftovers.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/coro/task_dump.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {
namespace {

/// A log is to be read: tasks beyond these places are counted.
constexpr std::size_t places_most = 32;

struct place {
  std::string text;
  std::size_t tasks = 0;
};

std::string counted(std::size_t count, std::string_view what) {
  return weft::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<place> places_of(const std::vector<await_chain>& tasks) {
  std::vector<place> all;
  std::size_t unnamed = 0;
  for (const await_chain& task : tasks) {
    std::string text = describe_briefly(task);
    const auto known = std::ranges::find(all, text, &place::text);
    if (known != all.end())
      ++known->tasks;
    else if (all.size() < places_most)
      all.push_back({.text = std::move(text), .tasks = 1});
    else
      ++unnamed;
  }
  if (unnamed != 0) all.push_back({.text = "other places", .tasks = unnamed});
  return all;
}

}  // namespace

std::vector<std::string> leftovers(event_loop& of) {
  const std::vector<await_chain> tasks = unfinished_tasks(of);
  const std::size_t timers = of.timers().armed_count();
  const std::size_t buffers = of.buffers().in_use() - of.io().buffers_lent();
  const std::size_t operations = of.io().waiting_operations();
  if (tasks.empty() && timers == 0 && buffers == 0 && operations == 0) return {};
  std::vector<std::string> lines{weft::format(
      "shard {} has left: {}, {}, {}, {}", of.shard(), counted(tasks.size(), "task"),
      counted(timers, "timer"), counted(buffers, "buffer"), counted(operations, "operation"))};
  for (const place& each : places_of(tasks))
    lines.push_back(weft::format("  {} wait{} in {}", counted(each.tasks, "task"),
                                 each.tasks == 1 ? "s" : "", each.text));
  return lines;
}

}  // namespace weft
