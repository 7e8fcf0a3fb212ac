// The loop on io_uring: completions, batched, one system call a turn.
//
// Contract: needs Linux 6.0 (6.1 for the faster set-up). One ring a shard, made on the shard's
// thread. Connections are accepted and bytes received by multishot operations into one ring of
// buffers lent from the shard's pool, so that an idle connection holds none. A connection that has
// four buffers waiting is told to stop until they are taken; one that finds the ring dry waits in a
// FIFO and is armed again as buffers come back. Nothing is freed, and no descriptor closed, while
// the kernel holds a reference to it.
#pragma once

#include <memory>
#include <string>

#include <weft/loop/backend.hpp>

namespace weft {

/// Fails with errc::unsupported or the system's reason where the kernel, a container's policy or a
/// limit forbids it; `why` then says which step was refused.
[[nodiscard]] result<std::unique_ptr<backend>> make_uring_backend(backend_context context,
                                                                  std::string& why);

}  // namespace weft
