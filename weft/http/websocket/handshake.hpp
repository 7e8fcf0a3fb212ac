// The opening handshake of a WebSocket, as far as it is text (RFC 6455 section 4).
//
// Contract: internal to http. Pure functions.
//
//   fields += accept_value(*key).text();
#pragma once

#include <array>
#include <string_view>

#include <weft/http/headers.hpp>

namespace weft::http::ws {

inline constexpr std::string_view version = "13";

/// Base64 of 16 bytes, as Sec-WebSocket-Key is.
[[nodiscard]] bool is_key(std::string_view text) noexcept;

/// What Sec-WebSocket-Accept answers to a key.
class accept_value {
 public:
  explicit accept_value(std::string_view key) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size}; }

 private:
  static constexpr std::size_t size = 28;  // of base64 of SHA-1
  std::array<char, size + 1> text_{};      // OpenSSL ends it with a NUL
};

/// Whether one of the fields of that name lists `wanted`, in any case of its letters.
[[nodiscard]] bool lists(const header_list& headers, std::string_view name,
                         std::string_view wanted) noexcept;

/// How often a field stands there.
[[nodiscard]] std::size_t count(const header_list& headers, std::string_view name) noexcept;

/// Whether a page of `origin` is one of the server's that `host` and `scheme` name: of the same
/// host and port, and secure if the connection is (RFC 6454).
[[nodiscard]] bool is_same_origin(std::string_view origin, std::string_view scheme,
                                  std::string_view host);

}  // namespace weft::http::ws
