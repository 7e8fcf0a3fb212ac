#include "tls_link.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <new>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

// With their lengths before them (RFC 7301 section 3.1).
constexpr std::string_view http11 = "\x08http/1.1";
constexpr std::string_view http2 = "\x02h2";

std::string openssl_error() {
  std::array<char, 256> text{};
  const unsigned long code = ::ERR_get_error();
  if (code == 0) return "the connection ended";
  ::ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

void expect_host(SSL* ssl, const std::string& host) {
  if (is_address(host)) {  // which SNI has no words for (RFC 6066 section 3)
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl), host.c_str());
  } else {
    ::SSL_set1_host(ssl, host.c_str());
    // SSL_set_tlsext_host_name() is a macro with a C cast.
    ::SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(host.c_str()));
  }
}

}  // namespace

tls_context::tls_context(ssl_ctx_st* context, tls_wish wish)
    : context_{context, &::SSL_CTX_free}, wish_{std::move(wish)} {}

std::expected<tls_context, std::string> tls_context::make(const tls_wish& wish) {
  tls_context made{::SSL_CTX_new(::TLS_client_method()), wish};
  ssl_ctx_st* const context = made.context_.get();
  if (context == nullptr) return std::unexpected{openssl_error()};
  ::SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  const bool trusts = wish.ca_file.empty() ? ::SSL_CTX_set_default_verify_paths(context) == 1
                                           : ::SSL_CTX_load_verify_locations(
                                                 context, wish.ca_file.c_str(), nullptr) == 1;
  if (!trusts)
    return std::unexpected{
        weft::format("cannot read the certificates of '{}': {}", wish.ca_file, openssl_error())};
  ::SSL_CTX_set_verify(context, wish.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  const std::string_view spoken = wish.http2 ? http2 : http11;
  ::SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(spoken.data()),
                            static_cast<unsigned>(spoken.size()));
  return made;
}

tls_link::tls_link(const tls_context& context)
    : ssl_{::SSL_new(context.context_.get())}, wants_http2_{context.wish_.http2} {
  BIO* const in = ::BIO_new(::BIO_s_mem());
  BIO* const out = ::BIO_new(::BIO_s_mem());
  if (ssl_ == nullptr || in == nullptr || out == nullptr) throw std::bad_alloc{};
  ::SSL_set_bio(ssl_, in, out);
  ::SSL_set_connect_state(ssl_);
  expect_host(ssl_, context.wish_.host);
}

tls_link::~tls_link() { ::SSL_free(ssl_); }

void tls_link::take(std::string_view encrypted) {
  ::BIO_write(::SSL_get_rbio(ssl_), encrypted.data(), static_cast<int>(encrypted.size()));
}

std::string_view tls_link::output() const {
  char* data = nullptr;
  const long size = ::BIO_ctrl(::SSL_get_wbio(ssl_), BIO_CTRL_INFO, 0, static_cast<void*>(&data));
  return std::string_view{data, static_cast<std::size_t>(size)}.substr(dropped_);
}

void tls_link::drop_output(std::size_t bytes) {
  if (bytes != output().size()) {
    dropped_ += bytes;
    return;
  }
  dropped_ = 0;
  ::BIO_ctrl(::SSL_get_wbio(ssl_), BIO_CTRL_RESET, 0, nullptr);
}

tls_link::progress tls_link::shake_hands() {
  ::ERR_clear_error();
  const int done = ::SSL_do_handshake(ssl_);
  if (done == 1) return speaks_as_asked() ? progress::done : progress::failed;
  return ::SSL_get_error(ssl_, done) == SSL_ERROR_WANT_READ ? progress::pending : progress::failed;
}

void tls_link::encrypt(std::string_view text) {
  ::SSL_write(ssl_, text.data(), static_cast<int>(text.size()));
}

std::optional<std::size_t> tls_link::decrypt(std::span<char> room) {
  ::ERR_clear_error();
  const int got = ::SSL_read(ssl_, room.data(), static_cast<int>(room.size()));
  if (got > 0) return static_cast<std::size_t>(got);
  if (::SSL_get_error(ssl_, got) == SSL_ERROR_WANT_READ) return 0;
  return std::nullopt;
}

bool tls_link::speaks_as_asked() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  ::SSL_get0_alpn_selected(ssl_, &name, &size);
  return !wants_http2_ || std::string_view{reinterpret_cast<const char*>(name), size} == "h2";
}

std::string tls_link::failure() const {
  if (::SSL_is_init_finished(ssl_) == 1) return "the server does not speak HTTP/2 (ALPN)";
  const long verified = ::SSL_get_verify_result(ssl_);
  if (verified != X509_V_OK)
    return weft::format("the certificate is not to be trusted: {} (--ca FILE, or --insecure)",
                        ::X509_verify_cert_error_string(verified));
  return weft::format("no TLS: {}", openssl_error());
}

}  // namespace weft::bench
