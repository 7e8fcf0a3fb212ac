#include <weft/base/failure_note.hpp>

#include <atomic>

namespace weft {
namespace {

constinit std::atomic<const char*> current_note{nullptr};

}  // namespace

void set_failure_note(const char* line) noexcept {
  current_note.store(line, std::memory_order_release);
}

const char* failure_note() noexcept { return current_note.load(std::memory_order_acquire); }

}  // namespace weft
