// The loop without a kernel: connections are byte queues in memory, time is a number. For exact
// tests.
//
// Contract: fault-free and deterministic. The clock stands still while anything can run and jumps
// to the next timer when nothing can, so that a test of a minute's timeout takes no time. Both ends
// of a connection live in one loop. Waiting for nothing (no timer, no task that could go on) is a
// deadlock, and ends the program with a message. File descriptors of the system are not served:
// readable() and writable() fail with errc::unsupported.
#pragma once

#include <memory>

#include <weft/loop/backend.hpp>

namespace weft {

[[nodiscard]] std::unique_ptr<backend> make_memory_backend(backend_context context,
                                                           time_point start);

}  // namespace weft
