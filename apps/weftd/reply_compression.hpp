// Replies in fewer bytes, for clients that take them so.
//
// Contract: a service around all that the server of its shard answers (weft/http/compress.hpp),
// added before whoever adds routes. A key comes in a field that no browser sends by itself, so that
// no stranger can have one asked for what he guesses at (BREACH). One a shard.
//
//   app.add<weftd::reply_compression>();
#pragma once

#include <cstddef>

namespace weft::http {
class server;
}

namespace weftd {

struct reply_compression_options {
  bool enabled = true;
  /// Shorter replies go as they are.
  std::size_t least_bytes = 1024;
};

struct reply_compression {
  using options = reply_compression_options;

  reply_compression(reply_compression_options options, weft::http::server& server);
};

}  // namespace weftd
