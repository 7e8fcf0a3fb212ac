// The URL of a proxy, and the credentials in it.
//
// Contract: internal to http. A user and a password are percent-encoded in the URL, and sent by
// Basic (RFC 7617) to the proxy only. No error message shows them. Owns its texts.
//
//   auto proxy = read_proxy("http://ann:secret@proxy.example:3128");
//   // proxy->address == "proxy.example:3128", proxy->authorization a whole line of a head
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace weft::http {

struct proxy_url {
  /// As net::connect() takes it.
  std::string address{};
  /// "Proxy-Authorization: Basic YW5uOnNlY3JldA==" and CR LF; empty: it names no user.
  std::string authorization{};
};

/// The error says what is wrong, for people, without what it may hold of a password.
[[nodiscard]] std::expected<proxy_url, std::string> read_proxy(std::string_view url);

/// What to do about a proxy that has answered 407.
[[nodiscard]] std::string_view advice_on_credentials(const proxy_url& used) noexcept;

}  // namespace weft::http
