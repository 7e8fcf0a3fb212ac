// Masking keys that nobody can foresee (RFC 6455 section 5.3).
//
// Problem: whoever knows the next key can have a client send bytes of his choice, which what stands
// between takes for a request. Contract: internal to http. From the kernel's generator, many at a
// time. Without that no key can be trusted: it asserts. Any thread, each with its own.
//
//   head.key = next_mask_key();
#pragma once

#include <cstdint>

namespace weft::http::ws {

[[nodiscard]] std::uint32_t next_mask_key() noexcept;

}  // namespace weft::http::ws
