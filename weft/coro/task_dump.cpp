#include <weft/coro/task_dump.hpp>

#include <string_view>

#include <weft/base/format.hpp>
#include <weft/coro/scheduler.hpp>
#include <weft/coro/scope.hpp>

namespace weft {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

await_chain chain_of(const detail::promise_base& spawned) {
  await_chain chain;
  for (const auto* each = &spawned; each != nullptr; each = each->waits_for)
    chain.push_back(each->waits_at);
  return chain;
}

}  // namespace

std::string describe(const std::source_location& place) {
  return weft::format("{} at {}:{}", place.function_name(), file_name(place.file_name()),
                      place.line());
}

std::vector<await_chain> unfinished_tasks(scheduler& of) {
  std::vector<await_chain> all;
  for (scope_registration& each : of.scopes())
    static_cast<scope&>(each).for_each_task(
        [&](const detail::promise_base& task) { all.push_back(chain_of(task)); });
  return all;
}

await_chain running_chain() {
  const detail::promise_base* task = detail::running.coroutine;
  if (task == nullptr) return {};
  while (task->caller != nullptr) task = task->caller;
  return chain_of(*task);
}

std::string describe(const await_chain& task) {
  std::string text;
  std::string lead = "  ";
  for (const std::source_location& place : task) {
    text += lead + describe(place) + '\n';
    lead.insert(0, "  ");
    if (lead.size() == 4) lead += "> ";
  }
  return text;
}

std::string describe_briefly(const await_chain& task) {
  std::string text;
  for (const std::source_location& place : task)
    text += (text.empty() ? "" : " > ") + describe(place);
  return text;
}

std::string dump_tasks(scheduler& of) {
  const std::vector<await_chain> all = unfinished_tasks(of);
  std::string text = weft::format("{} task{}\n", all.size(), all.size() == 1 ? "" : "s");
  for (const await_chain& each : all) text += describe(each);
  return text;
}

}  // namespace weft
