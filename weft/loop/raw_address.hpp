// A socket address as the kernel reads and writes it.
//
// Contract: a value; `size_bytes` is how much of `storage` means something.
//
//   ::bind(fd, address.get(), address.size_bytes);
#pragma once

#include <sys/socket.h>

namespace weft {

struct raw_address {
  sockaddr_storage storage{};
  socklen_t size_bytes = 0;
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

}  // namespace weft
