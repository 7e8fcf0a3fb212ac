// Internal: one connection of a load.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "conversation.hpp"
#include "tls_link.hpp"

namespace weft::bench {

// `opening`: connected, but the protocol has something to settle before the first request.
enum class link : std::uint8_t { down, connecting, securing, opening, up };

struct connection {
  explicit connection(std::unique_ptr<conversation> spoken) : speaks{std::move(spoken)} {}

  int fd = -1;
  link state = link::down;
  bool is_idle = false;     // stands in the loop's list of those that may send
  std::uint64_t since = 0;  // the connect's start
  std::unique_ptr<conversation> speaks;
  std::unique_ptr<tls_link> tls;
};

}  // namespace weft::bench
