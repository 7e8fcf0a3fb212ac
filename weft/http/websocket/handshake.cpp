#include <weft/http/websocket/handshake.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <string>

#include <weft/http/client/url.hpp>
#include <weft/http/field_syntax.hpp>

namespace weft::http::ws {
namespace {

constexpr std::string_view guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t key_bytes = 24;

bool is_base64(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/';
}

}  // namespace

bool is_key(std::string_view text) noexcept {
  return text.size() == key_bytes && text.ends_with("==") &&
         std::ranges::all_of(text.substr(0, key_bytes - 2), is_base64);
}

accept_value::accept_value(std::string_view key) noexcept {
  std::array<char, key_bytes + guid.size()> joined;
  char* const end = std::ranges::copy(key.substr(0, key_bytes), joined.data()).out;
  std::ranges::copy(guid, end);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned digest_bytes = 0;
  // Where the library has no SHA-1 the value is empty, and no peer takes it.
  EVP_Digest(joined.data(), joined.size(), digest.data(), &digest_bytes, EVP_sha1(), nullptr);
  // Cannot fail: what it gives is a length.
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text_.data()), digest.data(),
                  static_cast<int>(digest_bytes));
}

bool lists(const header_list& headers, std::string_view name, std::string_view wanted) noexcept {
  for (std::size_t at = headers.index_of(name); at < headers.size();
       at = headers.index_of(name, at + 1)) {
    for (std::string_view rest = headers[at].value; !rest.empty();)
      if (equals_ignoring_case(field_syntax::take_element(rest), wanted)) return true;
  }
  return false;
}

std::size_t count(const header_list& headers, std::string_view name) noexcept {
  std::size_t found = 0;
  for (std::size_t at = headers.index_of(name); at < headers.size();
       at = headers.index_of(name, at + 1))
    ++found;
  return found;
}

bool is_same_origin(std::string_view origin, std::string_view scheme, std::string_view host) {
  const auto page = parse_url(origin);
  if (!page || !page->target.empty()) return false;
  if (scheme == "https" && page->scheme != http::scheme::https) return false;
  // A host that names no port means that of the page's scheme: a proxy may have ended the TLS.
  const std::string with_scheme = std::string{to_string(page->scheme)} + "://" + std::string{host};
  const auto own = parse_url(with_scheme);
  return own && own->target.empty() && own->port == page->port &&
         equals_ignoring_case(own->host, page->host);
}

}  // namespace weft::http::ws
