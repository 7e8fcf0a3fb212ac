// Internal: what is sent comes back, byte for byte.
#pragma once

#include "in_order_conversation.hpp"

namespace weft::bench {

class echo_conversation final : public in_order_conversation {
 public:
  using in_order_conversation::in_order_conversation;

  void restart() override {
    in_order_conversation::restart();
    echoed_ = 0;
  }
  verdict take(std::string_view bytes) override;
  verdict end() override { return verdict::closed; }

 private:
  std::size_t echoed_ = 0;  // bytes of the oldest that came back
};

}  // namespace weft::bench
