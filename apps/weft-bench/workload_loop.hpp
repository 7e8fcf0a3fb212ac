// The loop of a workload: always on epoll, so that workloads differ in nothing else.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>

namespace weft::bench {

inline std::unique_ptr<event_loop> make_workload_loop() {
  auto loop = event_loop::create({.backend = backend_kind::epoll});
  if (loop) return std::move(*loop);
  std::fprintf(stderr, "weft-bench: no event loop: %s\n", loop.error().message().c_str());
  std::exit(1);
}

}  // namespace weft::bench
