// A connection that has been asked to speak another protocol, and does (101, RFC 9110 section 7.8).
//
// Contract: internal to http. Made for a request, and given to its exchange with the reply. Once
// that is queued it is begun with the connection's stream, and belongs to itself. A request that
// ends otherwise destroys it unbegun. One shard.
#pragma once

#include <memory>
#include <utility>

#include <weft/http/client_link.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {

class upgraded : public client_link {
 public:
  static void begin(std::unique_ptr<upgraded> self, net::tcp_stream stream) noexcept {
    self.release()->begin(std::move(stream));
  }

 private:
  virtual void begin(net::tcp_stream stream) noexcept = 0;
};

}  // namespace weft::http
