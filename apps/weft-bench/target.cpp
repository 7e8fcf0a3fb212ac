#include "target.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

struct known_scheme {
  std::string_view name;
  scheme means;
  std::uint16_t port;  // by default; 0: none
};
constexpr std::array known_schemes{
    known_scheme{"http", scheme::http, 80}, known_scheme{"https", scheme::https, 443},
    known_scheme{"ws", scheme::ws, 80}, known_scheme{"wss", scheme::wss, 443},
    known_scheme{"tcp", scheme::tcp, 0}};

const known_scheme* take_scheme(std::string_view& url) {
  for (const known_scheme& each : known_schemes) {
    if (!url.starts_with(each.name) || !url.substr(each.name.size()).starts_with("://")) continue;
    url.remove_prefix(each.name.size() + 3);
    return &each;
  }
  return nullptr;
}

std::expected<std::uint16_t, std::string> parse_port(std::string_view text) {
  unsigned port = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, port);
  if (read.ec != std::errc{} || read.ptr != end || port == 0 || port > 65535) {
    return std::unexpected{weft::format("'{}' is not a port: 1 to 65535", text)};
  }
  return static_cast<std::uint16_t>(port);
}

// Takes "host" or "[host]" off the front; what is left is empty or ":port".
std::expected<std::string, std::string> take_host(std::string_view& authority) {
  std::string_view host;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == authority.npos) return std::unexpected{std::string{"'[' without ']' in the host"}};
    host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
  } else {
    host = authority.substr(0, authority.find(':'));
    authority.remove_prefix(host.size());
  }
  if (host.empty()) return std::unexpected{std::string{"the URL names no host"}};
  return std::string{host};
}

bool has_blank_or_control(std::string_view text) {
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) <= ' ' || letter == 0x7f) return true;
  }
  return false;
}

}  // namespace

std::string target::authority() const {
  const bool is_ipv6 = host.find(':') != host.npos;
  return is_ipv6 ? weft::format("[{}]:{}", host, port) : weft::format("{}:{}", host, port);
}

std::string target::to_string() const {
  const auto* const named = std::ranges::find(known_schemes, speaks, &known_scheme::means);
  return weft::format("{}://{}{}", named->name, authority(), path);
}

std::expected<target, std::string> parse_target(std::string_view url) {
  target result;
  std::string_view rest = url;
  if (has_blank_or_control(url)) {
    return std::unexpected{weft::format("'{}' has a blank in it; write %20", url)};
  }
  const known_scheme* const named = take_scheme(rest);
  if (named == nullptr) {
    return std::unexpected{
        weft::format("'{}' should start with http://, https://, ws://, wss:// or tcp://, as in "
                     "http://127.0.0.1:8080/",
                     url)};
  }
  result.speaks = named->means;

  const std::size_t path_start = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, path_start);
  std::string_view path = rest.substr(path_start);
  path = path.substr(0, path.find('#'));

  auto host = take_host(authority);
  if (!host) return std::unexpected{std::move(host).error()};
  result.host = *std::move(host);

  if (authority.empty() && named->port != 0) {
    result.port = named->port;
  } else if (authority.starts_with(':')) {
    const auto port = parse_port(authority.substr(1));
    if (!port) return std::unexpected{port.error()};
    result.port = *port;
  } else {
    return std::unexpected{weft::format("'{}' needs a port, as in tcp://127.0.0.1:9000", url)};
  }

  if (result.speaks == scheme::tcp) {
    if (!path.empty() && path != "/") {
      return std::unexpected{std::string{"a tcp:// URL has no path"}};
    }
  } else {
    result.path = path.starts_with('/') ? std::string{path} : weft::format("/{}", path);
  }
  return result;
}

std::expected<address, std::string> look_up(const target& to) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
  if (error != 0) {
    return std::unexpected{
        weft::format("cannot find host '{}': {}", to.host, ::gai_strerror(error))};
  }
  address result;
  result.size = found->ai_addrlen;
  std::memcpy(&result.bytes, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return result;
}

}  // namespace weft::bench
