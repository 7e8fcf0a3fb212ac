// What a loop has not finished, or has not been given back: for whoever must end it all the same.
//
// Contract: each line is one of a log. The first counts tasks, timers, buffers and operations; each
// further one names tasks that wait in the same place, with the whole chain of it, the oldest
// first. Nothing left: no lines. It costs nothing until it is asked for, and then a look at every
// task. The loop's thread: others post a question to it.
//
//   for (const std::string& line : leftovers(loop)) log::error(line);
//   // shard 0 has left: 3 tasks, 1 timer, 0 buffers, 2 operations
//   //   2 tasks wait in serve(tcp_stream) at server.cpp:31 > read_line() at server.cpp:12
//   //   1 task waits in heartbeat() at server.cpp:50
#pragma once

#include <string>
#include <vector>

namespace weft {

class event_loop;

[[nodiscard]] std::vector<std::string> leftovers(event_loop& of);

}  // namespace weft
