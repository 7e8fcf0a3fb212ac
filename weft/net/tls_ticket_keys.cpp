#include <weft/net/tls_ticket_keys.hpp>

#include <openssl/rand.h>

#include <algorithm>

namespace weft::net {

std::optional<tls_ticket_keys::key> tls_ticket_keys::current(time now) {
  const std::lock_guard lock{mutex_};
  if (newest_ && now - newest_->since < renewed_after) return newest_;
  key made{.name = {}, .cipher = {}, .mac = {}, .mask = {}, .since = now};
  const bool is_drawn =
      RAND_bytes(made.name.data(), static_cast<int>(made.name.size())) == 1 &&
      RAND_priv_bytes(made.cipher.data(), static_cast<int>(made.cipher.size())) == 1 &&
      RAND_priv_bytes(made.mac.data(), static_cast<int>(made.mac.size())) == 1 &&
      RAND_priv_bytes(made.mask.data(), static_cast<int>(made.mask.size())) == 1;
  if (!is_drawn) return std::nullopt;
  before_ = newest_;
  newest_ = made;
  return newest_;
}

std::optional<tls_ticket_keys::key> tls_ticket_keys::find(
    std::span<const unsigned char, name_bytes> name, time now) {
  const std::lock_guard lock{mutex_};
  for (const auto& known : {newest_, before_}) {
    const bool counts = known && now - known->since < 2 * renewed_after;
    if (counts && std::ranges::equal(known->name, name)) return known;
  }
  return std::nullopt;
}

}  // namespace weft::net
