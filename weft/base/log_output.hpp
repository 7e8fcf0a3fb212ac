// The lines of the log on their way to stderr. Internal to log.
//
// Contract: any thread; lines do not mix. A line that stderr does not take now is lost, and
// counted; before the next that it takes, a line says how many were. Warm, a line of less than 1
// KiB in the plain format allocates nothing. Never throws.
//
//   log_output::to_stderr().write({level::info, "http.server", "listening on 127.0.0.1:80"});
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include <weft/base/log.hpp>
#include <weft/base/log_descriptor.hpp>

namespace weft::log::detail {

class log_output {
 public:
  /// The only one; never destroyed.
  static log_output& to_stderr() noexcept;

  void write(const entry& said) noexcept;
  void set_formatter(formatter look) noexcept;
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);
  }

 private:
  log_output() noexcept;
  void format(const entry& said) noexcept;
  [[nodiscard]] bool tell_losses() noexcept;
  void trim() noexcept;

  std::mutex lock_;
  log_descriptor stderr_{STDERR_FILENO};
  formatter look_;
  std::string line_;  // the one that is being written
  std::atomic<std::uint64_t> lost_{0};
  std::uint64_t told_ = 0;  // of those
};

}  // namespace weft::log::detail
