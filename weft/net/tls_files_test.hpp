// Certificates for the tests of TLS, made when they are needed: an authority, and whoever it
// vouches for, as PEM files in a folder of the test's own.
//
//   test_authority authority;
//   const tls_certificate site = authority.issue("site", {.names = {"site.test"}});
//   authority.revoke({"site"});  // from now on it is in the list that crl() names
#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/tls_context.hpp>

namespace weft::net {

struct test_subject {
  std::vector<std::string> names{};      // DNS
  std::vector<std::string> addresses{};  // IP
  long valid_for_seconds = 3600;
  const char* passphrase = nullptr;  // of the key
};

class test_authority {
  struct free_any {
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const noexcept { X509_free(certificate); }
    void operator()(X509_CRL* list) const noexcept { X509_CRL_free(list); }
    void operator()(ASN1_TIME* time) const noexcept { ASN1_TIME_free(time); }
    void operator()(X509_EXTENSION* extension) const noexcept { X509_EXTENSION_free(extension); }
  };
  template <class T>
  using owned = std::unique_ptr<T, free_any>;
  static constexpr long far_ahead_seconds = 3600;

 public:
  explicit test_authority(const std::string& name = "test authority")
      : test_authority{name, static_cast<test_authority*>(nullptr)} {}
  /// One that `above` vouches for.
  test_authority(const std::string& name, test_authority& above) : test_authority{name, &above} {}
  test_authority(const test_authority&) = delete;
  test_authority& operator=(const test_authority&) = delete;
  ~test_authority() {
    for (const std::string& each : files_) ::unlink(each.c_str());
    ::rmdir(folder_.c_str());
  }

  [[nodiscard]] std::string file(std::string_view name) const {
    return folder_ + "/" + std::string{name};
  }
  [[nodiscard]] std::string ca() const { return file("ca.pem"); }

  /// Files of that name, anew if they are there.
  tls_certificate issue(const std::string& name, const test_subject& subject = {}) {
    const owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
    const owned<X509> leaf = certify(name, key.get(), subject, false);
    serials_.emplace_back(name, ASN1_INTEGER_get(X509_get0_serialNumber(leaf.get())));
    write_certificates(name + ".pem", {leaf.get(), certificate_.get()});
    std::FILE* const out = open(name + ".key");
    const std::string_view secret = subject.passphrase != nullptr ? subject.passphrase : "";
    PEM_write_PrivateKey(out, key.get(), secret.empty() ? nullptr : EVP_aes_128_cbc(),
                         reinterpret_cast<const unsigned char*>(secret.data()),
                         static_cast<int>(secret.size()), nullptr, nullptr);
    std::fclose(out);
    return {.certificate = file(name + ".pem"), .key = file(name + ".key")};
  }

  [[nodiscard]] std::string crl() const { return file("crl.pem"); }
  /// Writes the list of those certificates, anew if it is there; `with` is appended to it.
  std::string revoke(const std::vector<std::string>& names, long valid_for_seconds = 1800,
                     const test_authority* with = nullptr) {
    const owned<X509_CRL> list{X509_CRL_new()};
    X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get()));
    const owned<ASN1_TIME> since{X509_gmtime_adj(nullptr, -2 * far_ahead_seconds)};
    const owned<ASN1_TIME> until{X509_gmtime_adj(nullptr, valid_for_seconds)};
    X509_CRL_set1_lastUpdate(list.get(), since.get());
    X509_CRL_set1_nextUpdate(list.get(), until.get());
    for (const std::string& each : names) {
      X509_REVOKED* const entry = X509_REVOKED_new();
      const std::unique_ptr<ASN1_INTEGER, decltype([](ASN1_INTEGER* n) { ASN1_INTEGER_free(n); })>
          serial{ASN1_INTEGER_new()};
      ASN1_INTEGER_set(serial.get(), serial_of(each));
      X509_REVOKED_set_serialNumber(entry, serial.get());
      X509_REVOKED_set_revocationDate(entry, since.get());
      X509_CRL_add0_revoked(list.get(), entry);
    }
    X509_CRL_sign(list.get(), key_.get(), EVP_sha256());
    std::FILE* const out = open("crl.pem");
    PEM_write_X509_CRL(out, list.get());
    if (with != nullptr) PEM_write_X509_CRL(out, with->list_.get());
    std::fclose(out);
    list_.reset(X509_CRL_dup(list.get()));
    return crl();
  }

  std::string write(std::string_view name, std::string_view text) {
    std::FILE* const out = open(name);
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
    return file(name);
  }

 private:
  test_authority(const std::string& name, test_authority* above)
      : key_{EVP_EC_gen("P-256")},
        certificate_{
            certify(name, key_.get(), {.valid_for_seconds = far_ahead_seconds}, true, above)} {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    if (above != nullptr)
      above->serials_.emplace_back(name,
                                   ASN1_INTEGER_get(X509_get0_serialNumber(certificate_.get())));
    write_certificates("ca.pem", {certificate_.get()});
  }
  /// Of the last one of that name.
  [[nodiscard]] long serial_of(const std::string& name) const {
    long found = 0;
    for (const auto& [each, serial] : serials_)
      if (each == name) found = serial;
    EXPECT_NE(found, 0) << name;
    return found;
  }
  std::FILE* open(std::string_view name) {
    files_.push_back(file(name));
    return std::fopen(files_.back().c_str(), "w");
  }
  void write_certificates(const std::string& name, const std::vector<X509*>& all) {
    std::FILE* const out = open(name);
    for (X509* each : all) PEM_write_X509(out, each);
    std::fclose(out);
  }
  static void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const owned<X509_EXTENSION> made{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
    ASSERT_NE(made, nullptr) << value;
    X509_add_ext(certificate, made.get(), -1);
  }
  owned<X509> certify(const std::string& name, EVP_PKEY* key, const test_subject& subject,
                      bool is_authority, const test_authority* above = nullptr) {
    owned<X509> made{X509_new()};
    X509* const c = made.get();
    X509_set_version(c, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(c), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(c), -2 * far_ahead_seconds);
    X509_gmtime_adj(X509_getm_notAfter(c), subject.valid_for_seconds);
    X509_set_pubkey(c, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509* const issuer = above != nullptr ? above->certificate_.get()
                         : is_authority   ? c
                                          : certificate_.get();
    X509_set_issuer_name(c, X509_get_subject_name(issuer));
    extend(c, issuer, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    std::string names;
    for (const std::string& each : subject.names)
      names += (names.empty() ? "DNS:" : ",DNS:") + each;
    for (const std::string& each : subject.addresses)
      names += (names.empty() ? "IP:" : ",IP:") + each;
    if (!names.empty()) extend(c, issuer, NID_subject_alt_name, names);
    X509_sign(c, above != nullptr ? above->key_.get() : key_.get(), EVP_sha256());
    return made;
  }

  static inline long serial_ = 0;
  std::vector<std::pair<std::string, long>> serials_;
  owned<X509_CRL> list_;
  std::string folder_ = ::testing::TempDir() + "weft-tls-XXXXXX";
  std::vector<std::string> files_;
  owned<EVP_PKEY> key_;
  owned<X509> certificate_;
};

}  // namespace weft::net
