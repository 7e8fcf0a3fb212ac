#include <weft/net/endpoint.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string>

#include <weft/base/format.hpp>

namespace weft::net {
namespace {

constexpr std::string_view unix_prefix = "unix:";

sockaddr_in& as_ipv4(raw_address& a) noexcept { return reinterpret_cast<sockaddr_in&>(a.storage); }
sockaddr_in6& as_ipv6(raw_address& a) noexcept {
  return reinterpret_cast<sockaddr_in6&>(a.storage);
}

result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, port);
  if (code != std::errc{} || stopped != end) return fail(errc::invalid_argument);
  return port;
}

result<endpoint> parse_unix(std::string_view path) {
  raw_address address;
  auto& un = reinterpret_cast<sockaddr_un&>(address.storage);
  if (path.empty() || path.size() >= sizeof un.sun_path) return fail(errc::invalid_argument);
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.data(), path.size());
  if (path.front() == '@') {  // an abstract name: no file, and its length counts (unix(7))
    if (path.size() == 1) return fail(errc::invalid_argument);
    un.sun_path[0] = '\0';
    address.size_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    return endpoint{address};
  }
  address.size_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return endpoint{address};
}

result<endpoint> parse_ip(std::string_view host, std::uint16_t port) {
  raw_address address;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string name{bracketed ? host.substr(1, host.size() - 2) : host};
  if (bracketed) {
    sockaddr_in6& in = as_ipv6(address);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    address.size_bytes = sizeof in;
    if (::inet_pton(AF_INET6, name.c_str(), &in.sin6_addr) == 1) return endpoint{address};
  } else {
    sockaddr_in& in = as_ipv4(address);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    address.size_bytes = sizeof in;
    if (name.empty() || ::inet_pton(AF_INET, name.c_str(), &in.sin_addr) == 1)
      return endpoint{address};
  }
  return fail(errc::invalid_argument);
}

}  // namespace

result<endpoint> endpoint::parse(std::string_view text) {
  // The system's calls would read up to it and take the rest for granted.
  if (text.contains('\0')) return fail(errc::invalid_argument);
  if (text.starts_with(unix_prefix)) return parse_unix(text.substr(unix_prefix.size()));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail(errc::invalid_argument);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return fail(port.error());
  return parse_ip(text.substr(0, colon), *port);
}

endpoint endpoint::loopback(std::uint16_t port) noexcept {
  raw_address address;
  sockaddr_in& in = as_ipv4(address);
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.size_bytes = sizeof in;
  return endpoint{address};
}

std::uint16_t endpoint::port() const noexcept {
  raw_address address = address_;
  switch (family()) {
    case AF_INET: return ntohs(as_ipv4(address).sin_port);
    case AF_INET6: return ntohs(as_ipv6(address).sin6_port);
    default: return 0;
  }
}

bool endpoint::is_abstract() const noexcept {
  const auto& un = reinterpret_cast<const sockaddr_un&>(address_.storage);
  return family() == AF_UNIX && address_.size_bytes > offsetof(sockaddr_un, sun_path) + 1 &&
         un.sun_path[0] == '\0';
}

std::string endpoint::to_string() const {
  raw_address address = address_;
  std::array<char, INET6_ADDRSTRLEN> text{};
  switch (family()) {
    case AF_INET:
      ::inet_ntop(AF_INET, &as_ipv4(address).sin_addr, text.data(), text.size());
      return weft::format("{}:{}", text.data(), port());
    case AF_INET6:
      ::inet_ntop(AF_INET6, &as_ipv6(address).sin6_addr, text.data(), text.size());
      return weft::format("[{}]:{}", text.data(), port());
    case AF_UNIX: {
      const char* path = reinterpret_cast<const sockaddr_un&>(address.storage).sun_path;
      if (!is_abstract()) return weft::format("unix:{}", path);
      const std::size_t size = address.size_bytes - offsetof(sockaddr_un, sun_path);
      return weft::format("unix:@{}", std::string_view{path + 1, size - 1});
    }
    default: return "unknown address";
  }
}

}  // namespace weft::net
