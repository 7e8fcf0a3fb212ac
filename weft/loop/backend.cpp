#include <weft/loop/backend.hpp>

#include <chrono>

namespace weft {

duration backend::wall_now() const noexcept {
  return std::chrono::system_clock::now().time_since_epoch();
}

}  // namespace weft
