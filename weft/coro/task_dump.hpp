// Which tasks have not ended, and where each of them waits: for logs, debuggers and leak reports.
//
// Contract: a task is listed with every co_await it is suspended in, from the spawned coroutine
// inwards. One that runs is shown where it last waited, and one that has not waited yet where its
// body begins. Costs nothing until it is asked; then it allocates. The scheduler's thread.
//
//   log::info(dump_tasks(loop));
//   // 1 task
//   //   serve(tcp_stream) at server.cpp:31
//   //     > read_line(tcp_stream&) at server.cpp:12
#pragma once

#include <source_location>
#include <string>
#include <vector>

namespace weft {

class scheduler;

using await_chain = std::vector<std::source_location>;

/// Of all scopes, the oldest first.
[[nodiscard]] std::vector<await_chain> unfinished_tasks(scheduler& of);

/// Of the task that this thread runs, or ran last and which waits again. Empty: it has ended.
[[nodiscard]] await_chain running_chain();

[[nodiscard]] std::string describe(const std::source_location& place);
/// A line a place.
[[nodiscard]] std::string describe(const await_chain& task);
/// All in one line.
[[nodiscard]] std::string describe_briefly(const await_chain& task);
[[nodiscard]] std::string dump_tasks(scheduler& of);

}  // namespace weft
