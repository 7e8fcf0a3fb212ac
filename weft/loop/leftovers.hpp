// What a loop has not finished, or has not been given back: for whoever must end it all the same.
//
// Contract: each line is one of a log. The first counts tasks, timers, buffers and operations; the
// others name them, equal ones together, at most 32 lines of each sort and then how many more there
// are. Tasks are named by where they wait, with the whole chain of it, the oldest first; timers by
// what they are for, the task that waits with them, and when the first of them is due; buffers by
// their slots and whether they hold input of a descriptor that nobody has read; operations by kind
// and descriptor. io_uring does not note which descriptor a send is for: where the socket has room
// by now it is not told. Nothing left: no lines. It costs nothing until it is asked for, and then a
// look at every task, timer, buffer and socket. The loop's thread: others post a question to it.
//
//   for (const std::string& line : leftovers(loop)) log::error(line);
//   // shard 0 has left: 3 tasks, 1 timer, 1 buffer, 2 operations
//   //   2 tasks wait in serve(tcp_stream) at server.cpp:31 > read_line() at server.cpp:12
//   //   1 task waits in heartbeat() at server.cpp:50
//   //   1 timer: sleep in heartbeat() at server.cpp:50, due in 0.250 s
//   //   1 buffer of 4096 bytes that the program holds: slot 7
//   //   1 operation: receive of descriptor 9
//   //   1 operation: receive of descriptor 12
#pragma once

#include <string>
#include <vector>

namespace weft {

class event_loop;

[[nodiscard]] std::vector<std::string> leftovers(event_loop& of);

}  // namespace weft
