#include <weft/net/tls_files.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/base/read_file.hpp>
#include <weft/net/tls_library.hpp>
#include <weft/net/tls_setup.hpp>
#include <weft/net/tls_validity.hpp>

namespace weft::net::detail {
namespace {

struct free_part {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(X509_CRL* list) const noexcept { X509_CRL_free(list); }
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

/// nullptr: there is none. `read` is the library's reader of `what`.
template <class T>
owned<T> next_part(T* (*read)(BIO*, T**, pem_password_cb*, void*), BIO& in, const std::string& name,
                   const char* what) {
  ERR_clear_error();
  owned<T> got{read(&in, nullptr, nullptr, nullptr)};
  if (got != nullptr) return got;
  const auto why = ERR_peek_last_error();
  if (ERR_GET_LIB(why) == ERR_LIB_PEM && ERR_GET_REASON(why) == PEM_R_NO_START_LINE) {
    ERR_clear_error();
    return nullptr;
  }
  throw tls_complaint{weft::format("'{}' has a {} that cannot be read ({}): is the file whole?",
                                   name, what, last_tls_complaint())};
}

owned<X509> next_certificate(BIO& in, const std::string& name) {
  return next_part(&PEM_read_bio_X509, in, name, "certificate");
}

owned<X509_CRL> next_list(BIO& in, const std::string& name) {
  return next_part(&PEM_read_bio_X509_CRL, in, name, "revocation list");
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

/// The trusted certificate that `list` says it is by; nullptr: it is by one below those, or by
/// somebody else.
X509* issuer_of(const X509_CRL& list, X509_STORE& store) {
  const STACK_OF(X509_OBJECT)* const trusted = X509_STORE_get0_objects(&store);
  for (std::size_t i = 0; i < static_cast<std::size_t>(sk_X509_OBJECT_num(trusted)); ++i) {
    X509* const each =
        X509_OBJECT_get0_X509(sk_X509_OBJECT_value(trusted, static_cast<stack_index>(i)));
    if (each != nullptr &&
        X509_NAME_cmp(X509_get_subject_name(each), X509_CRL_get_issuer(&list)) == 0)
      return each;
  }
  return nullptr;
}

void check_list(X509_CRL& list, X509_STORE& store, const std::string& name) {
  const std::string by = text_of(X509_CRL_get_issuer(&list));
  if (X509_CRL_get_ext_by_NID(&list, NID_delta_crl, -1) >= 0)
    throw tls_complaint{weft::format(
        "the revocation list of '{}' in '{}' has only what has changed since another one (a delta "
        "CRL), which is not supported: put the whole list there",
        by, name)};
  X509* const issuer = issuer_of(list, store);
  if (issuer != nullptr && X509_CRL_verify(&list, X509_get0_pubkey(issuer)) != 1) {
    ERR_clear_error();
    throw tls_complaint{weft::format(
        "the revocation list in '{}' says that it is by '{}', but that one's key has not signed "
        "it: get the list anew from who is trusted",
        name, by)};
  }
  const ASN1_TIME* const until = X509_CRL_get0_nextUpdate(&list);
  if (until != nullptr && X509_cmp_current_time(until) < 0)
    log::warning(
        weft::format("the revocation list of '{}' in '{}' is out of date: until it is "
                     "renewed none of that authority's certificates is taken",
                     by, name));
}

/// Where the list of a trusted authority is missing, nobody can come by that authority.
void check_coverage(X509_STORE& store, const std::string& name,
                    const std::vector<owned<X509_CRL>>& lists) {
  const STACK_OF(X509_OBJECT)* const trusted = X509_STORE_get0_objects(&store);
  for (std::size_t i = 0; i < static_cast<std::size_t>(sk_X509_OBJECT_num(trusted)); ++i) {
    const X509* const each =
        X509_OBJECT_get0_X509(sk_X509_OBJECT_value(trusted, static_cast<stack_index>(i)));
    if (each == nullptr) continue;
    const bool has_list = std::ranges::any_of(lists, [&](const auto& list) {
      return X509_NAME_cmp(X509_get_subject_name(each), X509_CRL_get_issuer(list.get())) == 0;
    });
    if (!has_list)
      log::warning(
          weft::format("'{}' has no revocation list of '{}': none of that authority's "
                       "certificates is taken",
                       name, text_of(X509_get_subject_name(each))));
  }
}

}  // namespace

std::string text_of(const X509_name_st* name) {
  const owned<BIO> out{BIO_new(BIO_s_mem())};
  if (out == nullptr || X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253) < 0)
    throw std::bad_alloc{};
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

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

std::int64_t revoke(ssl_ctx_st& context, const std::string& name, const std::string& text) {
  const owned<BIO> in = reader_of(text);
  X509_STORE* const store = SSL_CTX_get_cert_store(&context);
  std::int64_t until = tls_validity::never;
  std::vector<owned<X509_CRL>> lists;
  while (owned<X509_CRL> list = next_list(*in, name)) {
    check_list(*list, *store, name);
    until = std::min(until, seconds_of(X509_CRL_get0_nextUpdate(list.get())));
    lists.push_back(std::move(list));
  }
  if (lists.empty())
    throw tls_complaint{
        weft::format("'{0}' has no revocation list: what is wanted is PEM, from a line -----BEGIN "
                     "X509 CRL----- (of a binary one: openssl crl -inform DER -in '{0}' -out FILE)",
                     name)};
  check_coverage(*store, name, lists);
  for (const owned<X509_CRL>& list : lists)
    if (X509_STORE_add_crl(store, list.get()) != 1)
      throw tls_complaint{
          weft::format("a revocation list in '{}' cannot be used: {}", name, last_tls_complaint())};
  if (X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) != 1)
    throw tls_complaint{last_tls_complaint()};
  return until;
}

}  // namespace weft::net::detail
