// Internal: HTTP/1.1, pipelined.
#pragma once

#include "in_order_conversation.hpp"
#include "response_framer.hpp"

namespace weft::bench {

class http1_conversation final : public in_order_conversation {
 public:
  http1_conversation(std::size_t most, known_head& known, reply_listener& told)
      : in_order_conversation{most, told}, framer_{known} {}

  void restart() override {
    in_order_conversation::restart();
    framer_.reset();
  }
  verdict take(std::string_view bytes) override;
  verdict end() override;

 private:
  response_framer framer_;
  bool has_replied_ = false;  // on this connection, or on one before
};

}  // namespace weft::bench
