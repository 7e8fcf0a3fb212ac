#include <weft/net/tls_tickets.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <weft/net/tls_setup.hpp>
#include <weft/net/tls_ticket_keys.hpp>
#include <weft/net/tls_validity.hpp>

namespace weft::net::detail {
namespace {

using ticket_key = tls_ticket_keys::key;
using moment_bytes = std::array<unsigned char, sizeof(std::int64_t)>;

constexpr std::size_t iv_bytes = 16;    // of AES-CBC
constexpr std::size_t name_bytes = 16;  // of a ticket
constexpr int mask_key_bytes{sizeof(ticket_key::mask)};
static_assert(name_bytes == tls_ticket_keys::name_bytes + sizeof(moment_bytes));

// What the library asks for.
constexpr int failed = -1;
constexpr int not_ours = 0;
constexpr int good = 1;
constexpr int good_once_more = 2;  // the client is given another one

/// Hides a moment from who only sees the ticket pass, and shows it again. No value: the library
/// fails.
std::optional<moment_bytes> masked(moment_bytes moment, const ticket_key& with,
                                   const unsigned char* iv) noexcept {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mask{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), with.mask.data(), mask_key_bytes, iv, iv_bytes, mask.data(), &size) ==
      nullptr)
    return std::nullopt;
  for (std::size_t i = 0; i < moment.size(); ++i) moment[i] ^= mask[i];
  return moment;
}

bool prepare(const ticket_key& with, const unsigned char* iv, EVP_CIPHER_CTX* cipher,
             ticket_mac* mac, int seals) noexcept {
  return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, with.cipher.data(), iv, seals) ==
             1 &&
         set_mac_key(mac, with.mac);
}

int seal(SSL* session, std::span<unsigned char, name_bytes> name, unsigned char* iv,
         EVP_CIPHER_CTX* cipher, ticket_mac* mac) noexcept {
  const auto key = setup_of(session).tickets->current(std::chrono::steady_clock::now());
  if (!key || RAND_bytes(iv, iv_bytes) != 1) return failed;
  const auto until =
      masked(std::bit_cast<moment_bytes>(validity_of(session).until(session)), *key, iv);
  if (!until) return failed;
  std::ranges::copy(*until, std::ranges::copy(key->name, name.begin()).out);
  return prepare(*key, iv, cipher, mac, 1) ? good : failed;
}

int open(SSL* session, std::span<const unsigned char, name_bytes> name, const unsigned char* iv,
         EVP_CIPHER_CTX* cipher, ticket_mac* mac) noexcept {
  const tls_setup& setup = setup_of(session);
  const auto now = std::chrono::steady_clock::now();
  const auto key = setup.tickets->find(name.first<tls_ticket_keys::name_bytes>(), now);
  if (!key) return not_ours;
  moment_bytes hidden{};
  std::ranges::copy(name.last<sizeof(moment_bytes)>(), hidden.begin());
  const auto shown = masked(hidden, *key, iv);
  if (!shown || !prepare(*key, iv, cipher, mac, 0)) return failed;
  const auto until = std::bit_cast<std::int64_t>(*shown);
  if (setup.wall_seconds() >= until) return not_ours;
  validity_of(session).of_ticket = until;
  const bool is_spent = SSL_version(session) == TLS1_3_VERSION;  // RFC 8446 appendix C.4
  return is_spent || now - key->since >= tls_ticket_keys::renewed_after ? good_once_more : good;
}

}  // namespace

int seal_ticket(SSL* session, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                ticket_mac* mac, int seals) noexcept {
  const std::span<unsigned char, name_bytes> whole{name, name_bytes};
  return seals != 0 ? seal(session, whole, iv, cipher, mac) : open(session, whole, iv, cipher, mac);
}

}  // namespace weft::net::detail
