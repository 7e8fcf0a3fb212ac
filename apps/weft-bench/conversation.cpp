#include "conversation.hpp"

#include "echo_conversation.hpp"
#include "http1_conversation.hpp"
#include "http2_conversation.hpp"
#include "websocket_conversation.hpp"

namespace weft::bench {

std::unique_ptr<conversation> make_conversation(const load_plan& plan, known_head& known,
                                                reply_listener& told) {
  const auto most = static_cast<std::size_t>(plan.pipelined);
  switch (plan.speaks) {
    case protocol::echo: return std::make_unique<echo_conversation>(most, told);
    case protocol::websocket:
      return std::make_unique<websocket_conversation>(most, plan.opening, told);
    case protocol::http2: return std::make_unique<http2_conversation>(most, told);
    case protocol::http1: break;
  }
  return std::make_unique<http1_conversation>(most, known, told);
}

}  // namespace weft::bench
