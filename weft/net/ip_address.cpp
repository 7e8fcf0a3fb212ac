#include <weft/net/ip_address.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

namespace weft::net {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned mapped_bits = 96;

bool has_prefix(const std::array<std::uint8_t, 16>& one, const std::array<std::uint8_t, 16>& other,
                unsigned bits) noexcept {
  const std::size_t whole = bits / 8;
  if (!std::equal(one.begin(), one.begin() + whole, other.begin())) return false;
  if (bits % 8 == 0) return true;
  const unsigned differing = unsigned{one[whole]} ^ other[whole];
  return differing >> (8 - bits % 8) == 0;
}

}  // namespace

ip_address::ip_address(std::span<const std::uint8_t, 4> ipv4) noexcept {
  std::ranges::copy(ipv4, std::ranges::copy(mapped_prefix, bytes_.begin()).out);
}

ip_address::ip_address(std::span<const std::uint8_t, 16> ipv6) noexcept {
  std::ranges::copy(ipv6, bytes_.begin());
}

result<ip_address> ip_address::parse(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.contains('\0')) return fail(errc::invalid_argument);
  text.copy(terminated.data(), text.size());
  std::array<std::uint8_t, 16> bytes;
  if (text.contains(':')) {
    if (::inet_pton(AF_INET6, terminated.data(), bytes.data()) != 1)
      return fail(errc::invalid_argument);
    return ip_address{std::span<const std::uint8_t, 16>{bytes}};
  }
  if (::inet_pton(AF_INET, terminated.data(), bytes.data()) != 1)
    return fail(errc::invalid_argument);
  return ip_address{std::span{bytes}.first<4>()};
}

std::optional<ip_address> ip_address::of(const endpoint& where) noexcept {
  const sockaddr_storage& storage = where.raw().storage;
  if (where.family() == AF_INET) {
    std::array<std::uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in&>(storage).sin_addr,
                bytes.size());
    return ip_address{bytes};
  }
  if (where.family() != AF_INET6) return std::nullopt;
  std::array<std::uint8_t, 16> bytes;
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr,
              bytes.size());
  return ip_address{bytes};
}

bool ip_address::is_ipv4() const noexcept {
  return std::ranges::equal(mapped_prefix, std::span{bytes_}.first<12>());
}

std::string ip_address::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const std::size_t skipped = is_ipv4() ? mapped_prefix.size() : 0;
  ::inet_ntop(is_ipv4() ? AF_INET : AF_INET6, bytes_.data() + skipped, text.data(), text.size());
  return text.data();
}

result<ip_network> ip_network::parse(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto base = ip_address::parse(text.substr(0, slash));
  if (!base) return fail(base.error());
  if (slash == std::string_view::npos) return ip_network{*base, 128};
  const std::string_view digits = text.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool is_short = !text.substr(0, slash).contains(':');
  const bool is_number = code == std::errc{} && end == digits.data() + digits.size() &&
                         (digits.size() == 1 || digits.front() != '0');
  if (!is_number || bits > (is_short ? 32u : 128u)) return fail(errc::invalid_argument);
  if (is_short) bits += mapped_bits;
  std::array<std::uint8_t, 16> kept{};
  for (unsigned bit = 0; bit < bits; ++bit)
    kept[bit / 8] =
        static_cast<std::uint8_t>(kept[bit / 8] | (base->bytes()[bit / 8] & (0x80u >> bit % 8)));
  if (kept != base->bytes()) return fail(errc::invalid_argument);
  return ip_network{*base, bits};
}

bool ip_network::contains(const ip_address& address) const noexcept {
  const bool is_of_ipv4 = base_.is_ipv4() && prefix_bits_ >= mapped_bits;
  return is_of_ipv4 == address.is_ipv4() &&
         has_prefix(base_.bytes(), address.bytes(), prefix_bits_);
}

}  // namespace weft::net
