// Chooses a loop's backend at run time, and says in the log which one it took and why.
//
// Contract: automatic takes io_uring where the kernel lets us have it, else epoll. A backend asked
// for by name is given or refused with the reason, never replaced. Where the system refuses a call
// that serving needs there is no backend at all, and the log names the call (needed_calls.hpp).
//
//   auto io = make_backend(backend_kind::automatic, {.ready = queue, .buffers = pool});
#pragma once

#include <memory>

#include <weft/base/result.hpp>
#include <weft/loop/backend.hpp>

namespace weft {

struct sim_host;

/// `host`: for simulated, of a world that others live in as well; nullptr: a calm one of its own.
[[nodiscard]] result<std::unique_ptr<backend>> make_backend(backend_kind kind,
                                                            backend_context context,
                                                            sim_host* host = nullptr);

[[nodiscard]] std::string_view to_string(backend_kind kind) noexcept;
/// "auto", "io_uring", "epoll" or "simulated".
[[nodiscard]] result<backend_kind> parse_backend(std::string_view name) noexcept;

}  // namespace weft
