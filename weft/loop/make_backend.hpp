// Chooses a loop's backend at run time, and says in the log which one it took and why.
//
// Contract: automatic takes io_uring where the kernel lets us have it, else epoll. A backend asked
// for by name is given or refused with the reason, never replaced.
//
//   auto io = make_backend(backend_kind::automatic, {.ready = queue, .buffers = pool}, now);
#pragma once

#include <memory>

#include <weft/base/result.hpp>
#include <weft/loop/backend.hpp>

namespace weft {

/// `start` is where a backend with a clock of its own (memory) begins to count.
[[nodiscard]] result<std::unique_ptr<backend>> make_backend(backend_kind kind,
                                                            backend_context context,
                                                            time_point start);

[[nodiscard]] std::string_view to_string(backend_kind kind) noexcept;
/// "auto", "io_uring", "epoll" or "memory".
[[nodiscard]] result<backend_kind> parse_backend(std::string_view name) noexcept;

}  // namespace weft
