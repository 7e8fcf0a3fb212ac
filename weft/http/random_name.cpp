#include <weft/http/random_name.hpp>

#include <sys/random.h>

#include <array>
#include <cstdint>

#include <weft/base/format.hpp>

namespace weft::http {

result<std::string> draw_random_name() {
  std::array<std::uint64_t, 2> drawn{};
  if (::getrandom(drawn.data(), sizeof drawn, 0) != sizeof drawn) return fail(errc::unavailable);
  return weft::format("{:016x}{:016x}", drawn[0], drawn[1]);
}

}  // namespace weft::http
