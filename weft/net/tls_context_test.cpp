#include <weft/net/tls_context.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/tls_files_test.hpp>
#include <weft/net/tls_ticket_keys.hpp>

namespace weft::net {
namespace {

class tls_context_test : public ::testing::Test {
 protected:
  static std::string complaint(tls_server_options options) {
    const auto made = tls_context::server(std::move(options));
    return made ? "" : made.error();
  }
  static std::string complaint(tls_client_options options) {
    const auto made = tls_context::client(std::move(options));
    return made ? "" : made.error();
  }
  static void expect_says(const std::string& complaint, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(complaint.find(part), std::string::npos)
          << "'" << part << "' is not in: " << complaint;
  }

  test_authority authority;
};

TEST_F(tls_context_test, is_made_of_good_files) {
  const auto site = authority.issue("site", {.names = {"site.test"}});
  EXPECT_EQ(complaint(tls_server_options{.certificates = {site},
                                         .clients = client_certificates::required,
                                         .client_ca = authority.ca(),
                                         .protocols = {"h2", "http/1.1"}}),
            "");
  EXPECT_EQ(complaint(tls_client_options{.ca = authority.ca(), .certificate = site}), "");
  EXPECT_EQ(complaint(tls_client_options{}), "");
}

TEST(tls_library_test, has_a_name_and_a_version) {
  const std::string_view name = tls_library();
  EXPECT_TRUE(name.starts_with("OpenSSL 3.") || name.starts_with("AWS-LC ")) << name;
}

TEST_F(tls_context_test, takes_the_key_from_the_file_of_the_certificate) {
  const auto site = authority.issue("site");
  const auto read = [](const std::string& name) {
    return (std::ostringstream{} << std::ifstream{name}.rdbuf()).str();
  };
  const auto both = authority.write("both.pem", read(site.certificate) + read(site.key));
  EXPECT_EQ(complaint(tls_server_options{.certificates = {{both, both}}}), "");
  EXPECT_EQ(complaint(tls_server_options{.certificates = {{both, ""}}}), "");
}

TEST_F(tls_context_test, says_what_is_wrong_with_a_file) {
  const auto site = authority.issue("site");
  const auto other = authority.issue("other");
  const auto locked = authority.issue("locked", {.passphrase = "sesame"});
  const std::string no_pem = authority.write("no.pem", "nothing of the kind\n");
  const std::string cut =
      authority.write("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
  const std::string absent = authority.file("absent.pem");
  const auto of = [](std::string certificate, std::string key) {
    return complaint(tls_server_options{
        .certificates = {{.certificate = std::move(certificate), .key = std::move(key)}}});
  };
  expect_says(of(absent, site.key), {"the certificate", absent, "not found"});
  expect_says(of(site.certificate, absent), {"the private key", absent, "not found"});
  expect_says(of("", site.key), {"no file is named", "the certificate"});
  expect_says(of(no_pem, site.key), {no_pem, "no certificate", "-----BEGIN CERTIFICATE-----"});
  expect_says(of(cut, site.key), {cut, "cannot be read", "whole?"});
  expect_says(of(site.certificate, no_pem),
              {no_pem, "no private key", "-----BEGIN PRIVATE KEY-----"});
  expect_says(of(site.certificate, other.key), {other.key, site.certificate, "not the one of"});
  expect_says(of(locked.certificate, locked.key), {locked.key, "passphrase", "openssl pkey"});
  expect_says(of(authority.file(""), site.key), {authority.file(""), "cannot be read"});
  expect_says(of("/dev/zero", site.key), {"/dev/zero", "a device", "a regular file"});
}

TEST_F(tls_context_test, says_what_is_wrong_with_options) {
  const auto site = authority.issue("site");
  const std::string no_pem = authority.write("no.pem", "nothing of the kind\n");
  expect_says(complaint(tls_server_options{}), {"needs a certificate"});
  expect_says(complaint(tls_server_options{.certificates = {site}, .client_ca = authority.ca()}),
              {authority.ca(), "no client is asked"});
  expect_says(
      complaint(tls_server_options{.certificates = {site}, .clients = client_certificates::asked}),
      {"no file is named", "signs clients'"});
  expect_says(
      complaint(tls_server_options{
          .certificates = {site}, .clients = client_certificates::asked, .client_ca = no_pem}),
      {no_pem, "no certificate to trust"});
  expect_says(complaint(tls_server_options{.certificates = {site}, .protocols = {""}}), {"ALPN"});
  expect_says(complaint(tls_client_options{.ca = no_pem}), {no_pem, "no certificate to trust"});
}

TEST_F(tls_context_test, says_what_is_wrong_with_a_revocation_list) {
  const auto site = authority.issue("site");
  test_authority namesake{"test authority"};
  const auto asks = [&](std::string list) {
    return complaint(tls_server_options{.certificates = {site},
                                        .clients = client_certificates::required,
                                        .client_ca = authority.ca(),
                                        .client_crl = std::move(list)});
  };
  const std::string cut =
      authority.write("cut.crl", "-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n");
  EXPECT_EQ(asks(authority.revoke({"site"})), "");
  EXPECT_EQ(asks(authority.revoke({}, -1000)), "") << "out of date: the log says so";
  expect_says(asks(authority.file("absent.crl")), {"revocation list", "absent.crl", "not found"});
  expect_says(asks(authority.ca()), {authority.ca(), "no revocation list", "openssl crl"});
  expect_says(asks(cut), {cut, "revocation list", "cannot be read", "whole?"});
  expect_says(asks(namesake.revoke({})), {namesake.crl(), "CN=test authority", "has not signed"});
  expect_says(complaint(tls_server_options{.certificates = {site}, .client_crl = authority.crl()}),
              {authority.crl(), "no client is asked"});
  expect_says(complaint(tls_client_options{.crl = authority.crl()}),
              {authority.crl(), "name who signs"});
  EXPECT_EQ(complaint(tls_client_options{.ca = authority.ca(), .crl = authority.crl()}), "");
}

TEST_F(tls_context_test, keeps_what_it_has_if_a_reload_finds_nothing_good) {
  const auto site = authority.issue("site");
  auto context = tls_context::server({.certificates = {site}});
  ASSERT_TRUE(context.has_value());
  const auto before = context->setup();
  authority.write("site.key", "broken");
  const auto outcome = context->reload();
  ASSERT_FALSE(outcome.has_value());
  expect_says(outcome.error(), {site.key});
  EXPECT_EQ(context->setup(), before);
  authority.issue("site");
  EXPECT_TRUE(context->reload().has_value());
  EXPECT_NE(context->setup(), before);
}

TEST(tls_ticket_keys_test, are_renewed_and_forgotten) {
  tls_ticket_keys keys;
  const auto start = tls_ticket_keys::time{} + std::chrono::hours{1000};
  const auto period = tls_ticket_keys::renewed_after;
  const auto first = keys.current(start);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(keys.current(start + period - std::chrono::seconds{1})->name, first->name);
  const auto second = keys.current(start + period);
  EXPECT_NE(second->name, first->name);
  EXPECT_NE(second->cipher, first->cipher);
  EXPECT_NE(second->mac, first->mac);
  EXPECT_TRUE(keys.find(first->name, start + 2 * period - std::chrono::seconds{1}).has_value());
  EXPECT_FALSE(keys.find(first->name, start + 2 * period).has_value());
  EXPECT_EQ(keys.find(second->name, start + 2 * period)->cipher, second->cipher);
  EXPECT_FALSE(tls_ticket_keys{}.find(first->name, start).has_value());
}

}  // namespace
}  // namespace weft::net
