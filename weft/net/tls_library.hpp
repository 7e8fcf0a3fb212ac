// OpenSSL 3, or AWS-LC where weft is built with it (WEFT_TLS=aws-lc, docs/tls.md): most of their
// names are the same, and here is what differs. Contract: internal to net.
#pragma once

#include <openssl/ssl.h>

#ifdef OPENSSL_IS_AWSLC
#include <openssl/hmac.h>
#else
#include <openssl/core_names.h>
#endif

#include <array>
#include <cstddef>
#include <string>

namespace weft::net::detail {

using name_chooser = int(SSL*, int*, void*);

#ifdef OPENSSL_IS_AWSLC

/// It never renegotiates and never compresses, and takes ChaCha20 where AES has no instructions.
constexpr auto context_options = SSL_OP_CIPHER_SERVER_PREFERENCE;

using ticket_mac = HMAC_CTX;
using stack_index = std::size_t;

/// HMAC with SHA-256.
template <std::size_t Size>
bool set_mac_key(ticket_mac* mac, const std::array<unsigned char, Size>& key) noexcept {
  return HMAC_Init_ex(mac, key.data(), Size, EVP_sha256(), nullptr) == 1;
}

constexpr auto set_ticket_sealer = &SSL_CTX_set_tlsext_ticket_key_cb;

inline void set_name_chooser(SSL_CTX& context, name_chooser* chooser) noexcept {
  SSL_CTX_set_tlsext_servername_callback(&context, chooser);
}

inline bool ask_for_name(SSL& session, const char* name) noexcept {
  return SSL_set_tlsext_host_name(&session, name) == 1;
}

/// What has gone wrong, as OpenSSL would say it: here it is "CERTIFICATE_VERIFY_FAILED".
inline std::string in_words(std::string reason) {
  for (char& c : reason) {
    if (c == '_') c = ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return reason;
}

#else

constexpr auto context_options = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA;

using ticket_mac = EVP_MAC_CTX;
using stack_index = int;

/// HMAC with SHA-256.
template <std::size_t Size>
bool set_mac_key(ticket_mac* mac, std::array<unsigned char, Size> key) noexcept {
  char digest[] = "SHA256";
  const std::array parameters{
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.data(), Size),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, parameters.data()) == 1;
}

constexpr auto set_ticket_sealer = &SSL_CTX_set_tlsext_ticket_key_evp_cb;

// Not by OpenSSL's macros, in which GCC finds casts of the old style.

inline void set_name_chooser(SSL_CTX& context, name_chooser* chooser) noexcept {
  SSL_CTX_callback_ctrl(&context, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB,
                        reinterpret_cast<void (*)()>(chooser));
}

inline bool ask_for_name(SSL& session, const char* name) noexcept {
  return SSL_ctrl(&session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(name)) == 1;
}

inline std::string in_words(std::string reason) { return reason; }

#endif

}  // namespace weft::net::detail
