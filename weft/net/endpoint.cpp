#include <weft/net/endpoint.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include <weft/base/format.hpp>
#include <weft/base/log_escape.hpp>

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

bool is_of_no_interface(int code) noexcept { return code == ENODEV || code == ENXIO; }

/// The number of the interface that `zone` names; a name of digits goes before a number.
result<std::uint32_t> interface_number(std::string_view zone) {
  if (zone.size() < IF_NAMESIZE) {
    const unsigned found = ::if_nametoindex(std::string{zone}.c_str());
    if (found != 0) return found;
    if (const int code = errno; !is_of_no_interface(code)) return fail(error::from_errno(code));
  }
  std::uint32_t number = 0;
  const char* const end = zone.data() + zone.size();
  const auto [stopped, code] = std::from_chars(zone.data(), end, number);
  if (code != std::errc{} || stopped != end || number == 0) return fail(errc::not_found);
  std::array<char, IF_NAMESIZE> name{};
  if (::if_indextoname(number, name.data()) != nullptr) return number;
  const int why = errno;
  return is_of_no_interface(why) ? fail(errc::not_found) : fail(error::from_errno(why));
}

/// The name of an interface, or its number where it has gone.
std::string interface_text(std::uint32_t number) {
  std::array<char, IF_NAMESIZE> name{};
  if (::if_indextoname(number, name.data()) != nullptr) return name.data();
  return weft::format("{}", number);
}

/// "::1" or "fe80::1%eth0".
result<endpoint> parse_ipv6(std::string_view text, std::uint16_t port) {
  raw_address address;
  sockaddr_in6& in = as_ipv6(address);
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  address.size_bytes = sizeof in;
  const std::size_t percent = text.find('%');
  const std::string number{text.substr(0, percent)};
  if (::inet_pton(AF_INET6, number.c_str(), &in.sin6_addr) != 1)
    return fail(errc::invalid_argument);
  if (percent == std::string_view::npos) return endpoint{address};
  const std::string_view zone = text.substr(percent + 1);
  if (zone.empty() || zone.contains('%')) return fail(errc::invalid_argument);
  const auto scope = interface_number(zone);
  if (!scope) return fail(scope.error());
  in.sin6_scope_id = *scope;
  return endpoint{address};
}

result<endpoint> parse_ip(std::string_view host, std::uint16_t port) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return parse_ipv6(host.substr(1, host.size() - 2), port);
  raw_address address;
  sockaddr_in& in = as_ipv4(address);
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  address.size_bytes = sizeof in;
  if (!host.empty() && ::inet_pton(AF_INET, std::string{host}.c_str(), &in.sin_addr) != 1)
    return fail(errc::invalid_argument);
  return endpoint{address};
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
      if (const std::uint32_t scope = as_ipv6(address).sin6_scope_id; scope != 0)
        return weft::format("[{}%{}]:{}", text.data(), interface_text(scope), port());
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

std::string_view zone_of(std::string_view text) noexcept {
  if (!text.starts_with('[')) return {};
  const std::string_view address = text.substr(0, text.find(']'));
  const std::size_t percent = address.find('%');
  return percent == std::string_view::npos ? std::string_view{} : address.substr(percent + 1);
}

std::string no_such_zone(std::string_view text) {
  return weft::format("there is no network interface \"{}\"; `ip link` lists those there are",
                      log::escaped(zone_of(text)));
}

}  // namespace weft::net
