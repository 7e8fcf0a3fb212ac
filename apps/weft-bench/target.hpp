// What a load is aimed at: a URL taken apart and its host looked up.
//
//   auto target = weft::bench::parse_target("http://127.0.0.1:8080/ping");
//   // target->host == "127.0.0.1", target->port == 8080, target->path == "/ping"
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace weft::bench {

enum class scheme : std::uint8_t { http, https, ws, wss, tcp };

// Whether it goes over TLS.
constexpr bool is_secured(scheme speaks) {
  return speaks == scheme::https || speaks == scheme::wss;
}
constexpr bool is_websocket(scheme speaks) { return speaks == scheme::ws || speaks == scheme::wss; }

struct target {
  scheme speaks = scheme::http;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 0;
  std::string path;  // with the query; unless of tcp at least "/"

  [[nodiscard]] std::string authority() const;  // host:port, an IPv6 host in brackets
  [[nodiscard]] std::string to_string() const;
};

// http://HOST[:PORT][/PATH], https://, ws:// and wss:// likewise, or tcp://HOST:PORT. The error is
// a sentence for the user.
std::expected<target, std::string> parse_target(std::string_view url);

struct address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// The host's first address. Blocks while the resolver is asked.
std::expected<address, std::string> look_up(const target& to);

}  // namespace weft::bench
