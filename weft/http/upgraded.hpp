// A connection that has been asked to speak another protocol, and does (101, RFC 9110 section 7.8),
// or a stream of HTTP/2 that has (RFC 8441).
//
// Contract: internal to http. Made for a request, and given to its exchange with the reply. Once
// that is queued it is begun with what the request came by, and belongs to itself. A request that
// ends otherwise destroys it unbegun. One shard.
#pragma once

#include <memory>
#include <utility>

#include <weft/http/client_link.hpp>
#include <weft/http/upgraded_link.hpp>

namespace weft::http {

class upgraded : public client_link {
 public:
  static void begin(std::unique_ptr<upgraded> self, upgraded_link link) noexcept {
    self.release()->begin(std::move(link));
  }

 private:
  virtual void begin(upgraded_link link) noexcept = 0;
};

}  // namespace weft::http
