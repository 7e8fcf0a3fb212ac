#include <weft/net/tls_files.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstddef>
#include <memory>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/base/read_file.hpp>
#include <weft/net/tls_setup.hpp>

namespace weft::net::detail {
namespace {

struct free_part {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
template <class T>
using owned = std::unique_ptr<T, free_part>;

/// More is no PEM file of anybody's.
constexpr std::size_t file_bytes_max = 4 * 1024 * 1024;

owned<BIO> reader_of(const std::string& text) {
  owned<BIO> made{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  if (made == nullptr) throw std::bad_alloc{};
  return made;
}

owned<X509> next_certificate(BIO& in, const std::string& name) {
  ERR_clear_error();
  owned<X509> got{PEM_read_bio_X509(&in, nullptr, nullptr, nullptr)};
  if (got != nullptr) return got;
  const auto why = ERR_peek_last_error();
  if (ERR_GET_LIB(why) == ERR_LIB_PEM && ERR_GET_REASON(why) == PEM_R_NO_START_LINE) {
    ERR_clear_error();
    return nullptr;
  }
  throw tls_complaint{
      weft::format("'{}' has a certificate that cannot be read ({}): is the file whole?", name,
                   last_tls_complaint())};
}

int refuse_passphrase(char*, int, int, void* was_asked) noexcept {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

owned<EVP_PKEY> read_key(const std::string& name, const std::string& text) {
  bool is_encrypted = false;
  ERR_clear_error();
  owned<EVP_PKEY> key{
      PEM_read_bio_PrivateKey(reader_of(text).get(), nullptr, &refuse_passphrase, &is_encrypted)};
  if (key != nullptr) return key;
  if (is_encrypted)
    throw tls_complaint{
        weft::format("the private key in '{0}' wants a passphrase, and nobody is there to type it: "
                     "take that off "
                     "(openssl pkey -in '{0}' -out FILE), and let nobody else read the file",
                     name)};
  throw tls_complaint{weft::format(
      "'{}' has no private key that can be read ({}): what is wanted is PEM, from a line "
      "-----BEGIN PRIVATE KEY-----",
      name, last_tls_complaint())};
}

void warn_if_expired(const X509& certificate, const std::string& name) {
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0)
    log::warning(weft::format("the certificate in '{}' has expired: clients will refuse it", name));
}

}  // namespace

std::string read_text_file(const std::string& name, const char* what) {
  if (name.empty()) throw tls_complaint{weft::format("no file is named for {}", what)};
  auto text = read_file(name, file_bytes_max);
  if (!text)
    throw tls_complaint{weft::format("{}, '{}', cannot be read: {}", what, name, text.error())};
  return std::move(*text);
}

void use_certificate(ssl_ctx_st& context, const tls_certificate& files) {
  const std::string text = read_text_file(files.certificate, "the certificate");
  const owned<BIO> in = reader_of(text);
  const owned<X509> leaf = next_certificate(*in, files.certificate);
  if (leaf == nullptr)
    throw tls_complaint{weft::format(
        "'{}' has no certificate: what is wanted is PEM, from a line -----BEGIN CERTIFICATE-----",
        files.certificate)};
  warn_if_expired(*leaf, files.certificate);
  if (SSL_CTX_use_certificate(&context, leaf.get()) != 1)
    throw tls_complaint{weft::format("the certificate in '{}' cannot be used: {}",
                                     files.certificate, last_tls_complaint())};
  while (owned<X509> above = next_certificate(*in, files.certificate))
    if (SSL_CTX_add1_chain_cert(&context, above.get()) != 1)
      throw tls_complaint{
          weft::format("a certificate above the first one in '{}' cannot be used: {}",
                       files.certificate, last_tls_complaint())};

  const std::string& key_file = files.key.empty() ? files.certificate : files.key;
  const owned<EVP_PKEY> key = read_key(key_file, read_text_file(key_file, "the private key"));
  if (X509_check_private_key(leaf.get(), key.get()) != 1)
    throw tls_complaint{weft::format(
        "the private key in '{}' is not the one of the certificate in '{}': name the pair that was "
        "made together, the server's certificate before those above it",
        key_file, files.certificate)};
  if (SSL_CTX_use_PrivateKey(&context, key.get()) != 1)
    throw tls_complaint{
        weft::format("the private key in '{}' cannot be used: {}", key_file, last_tls_complaint())};
}

void trust(ssl_ctx_st& context, const std::string& name, const std::string& text,
           bool tells_peers) {
  const owned<BIO> in = reader_of(text);
  X509_STORE* const store = SSL_CTX_get_cert_store(&context);
  std::size_t count = 0;
  for (; owned<X509> root = next_certificate(*in, name); ++count) {
    const bool is_taken = X509_STORE_add_cert(store, root.get()) == 1 &&
                          (!tells_peers || SSL_CTX_add_client_CA(&context, root.get()) == 1);
    if (!is_taken)
      throw tls_complaint{
          weft::format("a certificate in '{}' cannot be trusted: {}", name, last_tls_complaint())};
  }
  if (count == 0)
    throw tls_complaint{
        weft::format("'{}' has no certificate to trust: what is wanted is PEM, from a line "
                     "-----BEGIN CERTIFICATE-----",
                     name)};
}

}  // namespace weft::net::detail
