// PEM files on their way into OpenSSL.
//
// Contract: internal to net. Each gives nothing, or throws tls_complaint, which names the file,
// what is wrong with it, and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <weft/net/tls_context.hpp>

struct ssl_ctx_st;
struct X509_name_st;

namespace weft::net::detail {

class tls_complaint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "CN=authority,O=Shop" (RFC 2253). Throws std::bad_alloc.
[[nodiscard]] std::string text_of(const X509_name_st* name);
[[nodiscard]] std::string read_text_file(const std::string& name, const char* what);
/// The certificate, those above it, and its key.
void use_certificate(ssl_ctx_st& context, const tls_certificate& files);
/// Whom to trust, from the text of `name`; also told to clients, so that they can choose.
void trust(ssl_ctx_st& context, const std::string& name, const std::string& text, bool tells_peers);
/// Whom no longer to trust, from the revocation lists in the text of `name`; from then on the whole
/// chain of a peer is looked up in them. After trust(). When the first of them has to be renewed,
/// in seconds since 1970; INT64_MAX: none says.
std::int64_t revoke(ssl_ctx_st& context, const std::string& name, const std::string& text);

}  // namespace weft::net::detail
