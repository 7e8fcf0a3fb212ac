// What else a machine does while something is measured: threads on the other processors.
//
// Contract: begins when made and ends when destroyed, which waits for its threads. They are
// scheduled as others, and never on the processor that is measured; where there is no other, there
// is no load, and is_there() says so.
//
//   const background_load hog{load_kind::memory, 1};
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

namespace weft::bench {

enum class load_kind : std::uint8_t {
  idle,
  cpu,     // a loop that never waits, on each
  memory,  // copies 64 MiB to and fro, on each
  network  // datagrams over loopback, as many as go through, on one
};

std::string_view to_string(load_kind kind) noexcept;

class background_load {
 public:
  background_load(load_kind kind, unsigned spared_cpu);
  background_load(const background_load&) = delete;
  background_load& operator=(const background_load&) = delete;
  ~background_load();

  [[nodiscard]] bool is_there() const noexcept { return !threads_.empty(); }

 private:
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

}  // namespace weft::bench
