#include <weft/net/tls_setup.hpp>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/net/tls_files.hpp>
#include <weft/net/tls_library.hpp>
#include <weft/net/tls_ticket_keys.hpp>
#include <weft/net/tls_tickets.hpp>
#include <weft/net/tls_validity.hpp>

namespace weft::net::detail {
namespace {

using context_ptr = std::unique_ptr<ssl_ctx_st, free_tls>;

/// Of TLS 1.2; those of 1.3 are all good. RFC 9325 section 4.2.
constexpr const char* cipher_suites = "ECDHE+AESGCM:ECDHE+CHACHA20";

context_ptr new_context(const SSL_METHOD* method, tls_version minimum) {
  context_ptr made{SSL_CTX_new(method)};
  if (made == nullptr) throw std::bad_alloc{};
  const int lowest = minimum == tls_version::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
  const bool is_set = SSL_CTX_set_min_proto_version(made.get(), lowest) == 1 &&
                      SSL_CTX_set_cipher_list(made.get(), cipher_suites) == 1;
  if (!is_set)
    throw tls_complaint{
        weft::format("this TLS library has not what is needed: {}", last_tls_complaint())};
  SSL_CTX_set_options(made.get(), context_options);
  // A write takes what is given it at once, into memory; an idle connection keeps no buffers.
  SSL_CTX_set_mode(made.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return made;
}

std::string wire_format(const std::vector<std::string>& protocols) {
  std::string wire;
  for (const std::string& each : protocols) {
    if (each.empty() || each.size() > 255)
      throw tls_complaint{weft::format(
          "'{}' is no protocol that ALPN could name: such names have 1 to 255 bytes", each)};
    wire += static_cast<char>(each.size());
    wire += each;
  }
  return wire;
}

int choose_certificate(SSL* session, int*, void* of) noexcept {
  const char* const name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
  for (const context_ptr& each : static_cast<const tls_setup*>(of)->contexts)
    if (X509_check_host(SSL_CTX_get0_certificate(each.get()), name, std::strlen(name), 0,
                        nullptr) == 1) {
      if (SSL_set_SSL_CTX(session, each.get()) == nullptr) return SSL_TLSEXT_ERR_ALERT_FATAL;
      break;
    }
  return SSL_TLSEXT_ERR_OK;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned offered_bytes, void* of) noexcept {
  const std::string& ours = static_cast<const tls_setup*>(of)->protocols;
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(
          &found, chosen_bytes, reinterpret_cast<const unsigned char*>(ours.data()),
          static_cast<unsigned>(ours.size()), offered, offered_bytes) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;  // RFC 7301 section 3.2
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

/// Whom a server trusts, as its files say it.
struct trusted_texts {
  std::string ca;
  std::string lists;  // of revoked certificates; empty: none is named
};

trusted_texts read_trusted(const tls_server_options& options) {
  const bool asks = options.clients != client_certificates::off;
  const auto unused = [&](const std::string& file, const char* what) {
    if (!asks && !file.empty())
      throw tls_complaint{weft::format(
          "'{}' would tell {}, but no client is asked for a certificate: ask, or leave the file "
          "out",
          file, what)};
  };
  unused(options.client_ca, "whose clients to trust");
  unused(options.client_crl, "which clients not to trust");
  if (!asks) return {};
  trusted_texts made{
      .ca = read_text_file(options.client_ca, "the certificate of who signs clients'"),
      .lists = {}};
  if (!options.client_crl.empty())
    made.lists = read_text_file(options.client_crl, "the revocation list of clients' certificates");
  return made;
}

/// Sessions of those who were asked for other certificates, or when others were trusted, are not
/// resumed.
void set_session_scope(ssl_ctx_st& context, const tls_server_options& options,
                       const trusted_texts& trusted) {
  const std::string scope = weft::format("{} {} {}{}", static_cast<int>(options.clients),
                                         trusted.ca.size(), trusted.ca, trusted.lists);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  const bool is_set =
      EVP_Digest(scope.data(), scope.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1 &&
      SSL_CTX_set_session_id_context(&context, hash.data(), size) == 1;
  if (!is_set) throw tls_complaint{last_tls_complaint()};
}

void ask_clients(ssl_ctx_st& context, const tls_server_options& options,
                 const trusted_texts& trusted, tls_setup& of) {
  if (options.clients == client_certificates::off) return;
  trust(context, options.client_ca, trusted.ca, true);
  if (!options.client_crl.empty())
    of.lists_end = revoke(context, options.client_crl, trusted.lists);
  const int unless_given =
      options.clients == client_certificates::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | unless_given, nullptr);
  SSL_CTX_set_max_cert_list(&context, tls_setup::certificates_most_bytes);
  SSL_CTX_set_cert_verify_callback(&context, &verify_client, &of);
}

context_ptr serving_context(const tls_server_options& options, const tls_certificate& files,
                            const trusted_texts& trusted, tls_setup& of) {
  context_ptr made = new_context(TLS_server_method(), options.minimum);
  use_certificate(*made, files);
  ask_clients(*made, options, trusted, of);
  set_session_scope(*made, options, trusted);
  SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(made.get(), std::uint32_t{tls_ticket_keys::renewed_after.count()});
  set_ticket_sealer(made.get(), &seal_ticket);
  set_name_chooser(*made, &choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(made.get(), &of);
  if (!of.protocols.empty()) SSL_CTX_set_alpn_select_cb(made.get(), &choose_protocol, &of);
  SSL_CTX_set_app_data(made.get(), &of);
  return made;
}

std::shared_ptr<const tls_setup> serving_setup(const tls_server_options& options,
                                               const std::shared_ptr<tls_ticket_keys>& tickets) {
  if (options.certificates.empty())
    throw tls_complaint{"a TLS server needs a certificate and its private key: name their files"};
  const trusted_texts trusted = read_trusted(options);
  auto made = std::make_shared<tls_setup>();
  made->protocols = wire_format(options.protocols);
  made->tickets = tickets;
  if (options.wall_seconds != nullptr) made->wall_seconds = options.wall_seconds;
  for (const tls_certificate& each : options.certificates)
    made->contexts.push_back(serving_context(options, each, trusted, *made));
  return made;
}

std::shared_ptr<const tls_setup> asking_setup(const tls_client_options& options) {
  auto made = std::make_shared<tls_setup>();
  made->protocols = wire_format(options.protocols);
  context_ptr context = new_context(TLS_client_method(), options.minimum);
  SSL_CTX_set_verify(context.get(), options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!options.ca.empty())
    trust(*context, options.ca, read_text_file(options.ca, "the certificate to trust"), false);
  else if (SSL_CTX_set_default_verify_paths(context.get()) != 1)
    throw tls_complaint{weft::format("the certificates that the system trusts cannot be read: {}",
                                     last_tls_complaint())};
  if (!options.crl.empty()) {
    if (options.ca.empty())
      throw tls_complaint{weft::format(
          "'{}' would tell which servers not to trust, but not whose certificates it is about: "
          "name who signs them as well",
          options.crl)};
    const auto lists = read_text_file(options.crl, "the revocation list of servers' certificates");
    revoke(*context, options.crl, lists);
  }
  if (!options.certificate.certificate.empty()) use_certificate(*context, options.certificate);
  // This one answers 0 when it has done what it was asked.
  if (!made->protocols.empty() &&
      SSL_CTX_set_alpn_protos(context.get(),
                              reinterpret_cast<const unsigned char*>(made->protocols.data()),
                              static_cast<unsigned>(made->protocols.size())) != 0)
    throw std::bad_alloc{};
  made->contexts.push_back(std::move(context));
  return made;
}

}  // namespace

void free_tls::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

void free_tls::operator()(ssl_st* session) const noexcept { SSL_free(session); }

std::int64_t system_wall_seconds() noexcept { return std::time(nullptr); }

std::string last_tls_complaint() {
  const auto why = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(why);
  return reason != nullptr ? in_words(reason) : weft::format("error {:x} of the TLS library", why);
}

tls_setup::made tls_setup::server(const tls_server_options& options,
                                  const std::shared_ptr<tls_ticket_keys>& tickets) {
  try {
    return serving_setup(options, tickets);
  } catch (const tls_complaint& why) {
    return std::unexpected{std::string{why.what()}};
  }
}

tls_setup::made tls_setup::client(const tls_client_options& options) {
  try {
    return asking_setup(options);
  } catch (const tls_complaint& why) {
    return std::unexpected{std::string{why.what()}};
  }
}

}  // namespace weft::net::detail
