// A value, or the reason there is none.
//
// Problem: in a network program failure is routine, and an exception makes it both expensive and
// invisible at the call. Contract: everything that can fail at run time returns a result; wrong use
// of an interface (a bug) is an assertion instead, see <weft/base/assert.hpp>.
//
//   weft::result<int> parse_port(std::string_view text) {
//     if (text.empty()) return weft::fail(weft::errc::invalid_argument);
//     ...
//     return port;
//   }
#pragma once

#include <weft/base/error.hpp>

#include <expected>

namespace weft {

template <class T = void>
using result = std::expected<T, error>;

// The failure side of any result. Takes an errc as well: `return fail(errc::closed);`
[[nodiscard]] constexpr std::unexpected<error> fail(error why) noexcept {
  return std::unexpected<error>(why);
}

}  // namespace weft
