#include <weft/http/websocket/mask_keys.hpp>

#include <sys/random.h>

#include <array>
#include <cstddef>

#include <weft/base/assert.hpp>

namespace weft::http::ws {

std::uint32_t next_mask_key() noexcept {
  struct drawn_keys {
    std::array<std::uint32_t, 64> keys{};  // as many bytes as are never given in part
    std::size_t used = std::tuple_size_v<decltype(keys)>;
  };
  constinit thread_local drawn_keys drawn;
  if (drawn.used == drawn.keys.size()) {
    const auto given = ::getrandom(drawn.keys.data(), sizeof drawn.keys, 0);
    WEFT_ASSERT(given == sizeof drawn.keys, "the kernel gives no random numbers");
    drawn.used = 0;
  }
  return drawn.keys[drawn.used++];
}

}  // namespace weft::http::ws
