#include <weft/net/tls_validity.hpp>

#include <openssl/asn1.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include <weft/net/tls_setup.hpp>

namespace weft::net::detail {
namespace {

constexpr int application_index = 0;  // of an SSL's data; the library leaves it to the program

}  // namespace

bool attach_validity(SSL& session, tls_validity& validity) noexcept {
  return SSL_set_ex_data(&session, application_index, &validity) == 1;
}

tls_validity& validity_of(const SSL* session) noexcept {
  return *static_cast<tls_validity*>(SSL_get_ex_data(session, application_index));
}

const tls_setup& setup_of(const SSL* session) noexcept {
  return *static_cast<const tls_setup*>(
      SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), application_index));
}

/// By a difference: it is what both libraries have for every year that a certificate may name.
std::int64_t seconds_of(const ASN1_TIME* date) noexcept {
  if (date == nullptr) return tls_validity::never;
  const std::unique_ptr<ASN1_TIME, decltype([](ASN1_TIME* time) { ASN1_TIME_free(time); })> epoch{
      ASN1_TIME_set(nullptr, 0)};
  int days = 0;
  int seconds = 0;
  // What cannot be read has ended: nothing is to be trusted for longer than it says.
  if (epoch == nullptr || ASN1_TIME_diff(&days, &seconds, epoch.get(), date) != 1) return 0;
  return std::int64_t{days} * 24 * 60 * 60 + seconds;
}

int verify_client(X509_STORE_CTX* chain, void* of) noexcept {
  const tls_setup& setup = *static_cast<const tls_setup*>(of);
  X509_STORE_CTX_set_time(chain, 0, static_cast<std::time_t>(setup.wall_seconds()));
  const int good = X509_verify_cert(chain);
  if (good != 1) return good;
  std::int64_t until = setup.lists_end;
  const STACK_OF(X509)* const certificates = X509_STORE_CTX_get0_chain(chain);
  for (std::size_t i = 0; i < static_cast<std::size_t>(sk_X509_num(certificates)); ++i)
    until = std::min(
        until,
        seconds_of(X509_get0_notAfter(sk_X509_value(certificates, static_cast<stack_index>(i)))));
  const auto* const session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  validity_of(session).of_certificates = until;
  return good;
}

}  // namespace weft::net::detail
