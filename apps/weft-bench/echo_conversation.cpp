#include "echo_conversation.hpp"

namespace weft::bench {

conversation::verdict echo_conversation::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (owes_nothing()) return verdict::unasked;
    const std::string_view all = asked().bytes;
    const std::string_view expected = all.substr(echoed_, bytes.size());
    if (!bytes.starts_with(expected)) return verdict::malformed;
    bytes.remove_prefix(expected.size());
    echoed_ += expected.size();
    if (echoed_ != all.size()) continue;
    if (!is_sent()) return verdict::unasked;
    echoed_ = 0;
    complete(0);
  }
  return verdict::going_on;
}

}  // namespace weft::bench
