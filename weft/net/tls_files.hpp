// PEM files on their way into OpenSSL.
//
// Contract: internal to net. Each gives nothing, or throws tls_complaint, which names the file,
// what is wrong with it, and what to do.
#pragma once

#include <stdexcept>
#include <string>

#include <weft/net/tls_context.hpp>

struct ssl_ctx_st;

namespace weft::net::detail {

class tls_complaint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[nodiscard]] std::string read_text_file(const std::string& name, const char* what);
/// The certificate, those above it, and its key.
void use_certificate(ssl_ctx_st& context, const tls_certificate& files);
/// Whom to trust, from the text of `name`; also told to clients, so that they can choose.
void trust(ssl_ctx_st& context, const std::string& name, const std::string& text, bool tells_peers);

}  // namespace weft::net::detail
