#include "http1_conversation.hpp"

namespace weft::bench {

conversation::verdict http1_conversation::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (owes_nothing()) return verdict::unasked;
    const auto [state, used] = framer_.feed(bytes, asked().is_head);
    if (state == response_framer::progress::malformed) return verdict::malformed;
    if (state == response_framer::progress::incomplete) return verdict::going_on;
    bytes.remove_prefix(used);
    const bool is_last = !framer_.keeps_alive() || !is_sent();
    complete(framer_.status());
    has_replied_ = true;
    if (is_last) return bytes.empty() ? verdict::last_reply : verdict::unasked;
  }
  return verdict::going_on;
}

conversation::verdict http1_conversation::end() {
  // Who has replied may end a connection that nobody uses (RFC 9112 section 9.5).
  if (owes_nothing()) return has_replied_ ? verdict::last_reply : verdict::closed;
  if (!framer_.ends_at_close()) return verdict::closed;
  complete(framer_.status());
  return verdict::last_reply;
}

}  // namespace weft::bench
