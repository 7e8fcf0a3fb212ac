#include <weft/store/mysql/server_proof.hpp>

#include <fcntl.h>

#include <array>
#include <memory>
#include <utility>

#include <mariadb/errmsg.h>
#include <mariadb/mysql.h>
#include <mariadb/mysql/plugin_auth.h>
// After the library's own types.
#include <mariadb/ma_pvio.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <weft/base/format.hpp>

namespace weft::store::mysql {
namespace {

constexpr const char* proof_key = "weft server proof";

/// As <mariadb/mysql/client_plugin.h> has it, which wants a header that is not installed.
struct login_method {
  MYSQL_CLIENT_PLUGIN_HEADER
  int (*authenticate_user)(MYSQL_PLUGIN_VIO* to_server, MYSQL* mysql);
};
/// What a connection's TLS begins with in <mariadb/ma_tls.h>, 3.3 and 3.4, which wants others, too.
struct tls_of_library {
  void* data;
  MARIADB_PVIO* way;
  void* session;
};
constexpr int kind_of_login_methods = 2;
constexpr unsigned version_of_login_methods = 0x0100;

struct release {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};

int refuse(MYSQL* mysql, const std::string& why) {
  mysql->net.pvio->set_error(mysql, CR_SSL_CONNECTION_ERROR, "HY000", "%s", why.c_str());
  return CR_ERROR;
}

/// What the library calls to log in, on the stack and the thread that it runs on.
int prove_first(MYSQL_PLUGIN_VIO* to_server, MYSQL* mysql) {
  void* given = nullptr;
  // What it does not find stays nullptr.
  mysql_get_optionv(mysql, MARIADB_OPT_USERDATA, const_cast<char*>(proof_key), &given);
  auto* const proof = static_cast<server_proof*>(given);
  if (proof == nullptr) return CR_ERROR;
  if ((mysql->server_capabilities & CLIENT_SSL) == 0)
    return refuse(mysql,
                  "the server speaks no TLS: give it a certificate (ssl_cert, ssl_key), or say "
                  "tls=off where nobody else is on the way to it");
  // The library asks its socket not to wait by each call, which OpenSSL does not.
  const int fd = mysql_get_socket(mysql);
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
    return refuse(mysql, "its socket cannot be kept from waiting");
  constexpr unsigned char nothing = 0;
  if (to_server->write_packet(to_server, &nothing, 0) != 0) return CR_ERROR;
  const std::string fault = proof->fault(tls_session_of(*mysql));
  if (!fault.empty()) return refuse(mysql, fault);
  if (mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, login_methods) != 0) return CR_ERROR;
  proof->give();
  return CR_OK;
}

bool add_method(MYSQL* handle) {
  static login_method method{.type = kind_of_login_methods,
                             .interface_version = version_of_login_methods,
                             .name = proof_method,
                             .author = "weft",
                             .desc = "lets a server prove itself before anybody logs in",
                             .version = {1, 0, 0},
                             .license = "Apache-2.0",
                             .mysql_api = nullptr,
                             .init = nullptr,
                             .deinit = nullptr,
                             .options = nullptr,
                             .authenticate_user = &prove_first};
  static const bool is_there =
      mysql_client_register_plugin(handle, reinterpret_cast<st_mysql_client_plugin*>(&method)) !=
      nullptr;
  return is_there;
}

bool has_openssl() {
  const char* library = nullptr;
  return mariadb_get_infov(nullptr, MARIADB_TLS_LIBRARY, static_cast<void*>(&library)) == 0 &&
         library != nullptr && std::string_view{library}.starts_with("OpenSSL");
}

/// "db.example, *.db.example"
std::string names_of(X509* certificate) {
  std::string text;
  const std::unique_ptr<GENERAL_NAMES, release> names{static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const each = sk_GENERAL_NAME_value(names.get(), i);
    if (each->type != GEN_DNS) continue;
    const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.dNSName));
    text += text.empty() ? "" : ", ";
    text.append(bytes, static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName)));
  }
  if (!text.empty()) return text;
  std::array<char, 256> common{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                             common.data(), common.size());
  return size > 0 ? std::string{common.data()} : "nobody";
}

}  // namespace

std::string server_proof::ask_for(MYSQL* handle) {
  if (!has_openssl())
    return "this build of MariaDB Connector/C has its TLS from elsewhere than OpenSSL: say "
           "tls=off, "
           "or install one that has";
  const bool is_ready = add_method(handle) &&
                        mysql_options(handle, MYSQL_DEFAULT_AUTH, proof_method) == 0 &&
                        mysql_optionsv(handle, MARIADB_OPT_USERDATA, const_cast<char*>(proof_key),
                                       static_cast<void*>(this)) == 0;
  return is_ready ? "" : "MariaDB Connector/C takes no login method of our own";
}

std::string server_proof::fault(const void* session) const {
  auto* const ssl = static_cast<SSL*>(const_cast<void*>(session));
  if (ssl == nullptr) return "the server went on without TLS";
  if (mode_ == tls_mode::required) return {};
  const std::unique_ptr<X509, release> certificate{SSL_get1_peer_certificate(ssl)};
  if (certificate == nullptr) return "the server has shown no certificate";
  if (const long judged = SSL_get_verify_result(ssl); judged != X509_V_OK)
    return X509_verify_cert_error_string(judged);
  if (mode_ == tls_mode::verify_ca) return {};
  if (X509_check_host(certificate.get(), name_.data(), name_.size(), 0, nullptr) == 1 ||
      X509_check_ip_asc(certificate.get(), name_.c_str(), 0) == 1)
    return {};
  return weft::format(
      "the certificate is made out to {}, and not to {}: name the server as its certificate does, "
      "or say tls=verify-ca",
      names_of(certificate.get()), name_);
}

void* tls_session_of(const MYSQL& by) noexcept {
  const auto* const secured = static_cast<const tls_of_library*>(by.net.pvio->ctls);
  return secured == nullptr ? nullptr : secured->session;
}

std::string_view remedy_of(std::string_view told) {
  static constexpr std::pair<int, std::string_view> remedies[] = {
      {X509_V_ERR_CERT_HAS_EXPIRED, "have the server's certificate renewed"},
      {X509_V_ERR_CERT_NOT_YET_VALID, "set the clocks of both machines"},
      {X509_V_ERR_CERT_REVOKED, "have the server's certificate renewed, for tls_crl lists it"},
      {X509_V_ERR_UNABLE_TO_GET_CRL, "tls_crl is to have a list of each authority of the chain"},
      {X509_V_ERR_CRL_HAS_EXPIRED, "have the list of tls_crl renewed"}};
  static constexpr int untrusted[] = {
      X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE};
  for (const auto& [fault, remedy] : remedies)
    if (told.contains(X509_verify_cert_error_string(fault))) return remedy;
  for (const int fault : untrusted)
    if (told.contains(X509_verify_cert_error_string(fault)))
      return "tls_ca is to name the file of who has signed the server's certificate";
  return {};
}

}  // namespace weft::store::mysql
