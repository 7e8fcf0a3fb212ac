// Replies in fewer bytes, for clients that take them so.
//
// Problem: a batch of rows travels in a tenth of its bytes, and a row in hardly less; to look what
// a client takes costs each request 550 instructions. Contract: a service that says which routes
// may give long replies (weft/http/compress.hpp). A key comes in a field that no browser sends by
// itself, so that no stranger can have one asked for what he guesses at (BREACH). One a shard.
//
//   compression.around(api).post("/batch", ...);
#pragma once

#include <cstddef>

namespace weft::http {
class route_group;
}

namespace weftd {

struct reply_compression_options {
  bool enabled = true;
  /// Shorter replies go as they are.
  std::size_t least_bytes = 1024;
};

class reply_compression {
 public:
  using options = reply_compression_options;

  explicit reply_compression(reply_compression_options options) noexcept : options_{options} {}

  /// What is added to it may give long replies.
  [[nodiscard]] weft::http::route_group around(const weft::http::route_group& api);

 private:
  reply_compression_options options_;
};

}  // namespace weftd
