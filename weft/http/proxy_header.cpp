#include <weft/http/proxy_header.hpp>

#include <algorithm>
#include <array>

#include <weft/http/crc32c.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

constexpr std::string_view text_signature = "PROXY ";
constexpr std::string_view binary_signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t text_bytes_max = 107;
constexpr std::size_t fixed_bytes = 16;
constexpr std::uint8_t tlv_crc32c = 0x03;

proxy_outcome failed(std::string_view reason) noexcept {
  return {.status = proxy_status::failed, .reason = reason};
}

std::uint8_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<std::uint8_t>(bytes[at]);
}

std::uint16_t number_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

// Version 1, section 2.1.

std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

std::optional<std::uint16_t> parse_port(std::string_view digits) noexcept {
  const bool has_zero = digits.size() > 1 && digits.front() == '0';
  const auto port = scan::decimal(digits);
  if (has_zero || digits.size() > 5 || !port || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

std::optional<net::ip_address> parse_address(std::string_view text, bool is_ipv4) noexcept {
  if (text.contains(':') == is_ipv4) return std::nullopt;
  const auto address = net::ip_address::parse(text);
  return address ? std::optional{*address} : std::nullopt;
}

proxy_outcome parse_line(std::string_view line, std::size_t size_bytes) noexcept {
  proxy_outcome found{.status = proxy_status::complete, .header = {.size_bytes = size_bytes}};
  line.remove_prefix(text_signature.size());
  // The rest of its line may be anything.
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return found;
  const std::string_view family = take_word(line);
  if (family != "TCP4" && family != "TCP6") return failed("neither TCP4, TCP6 nor UNKNOWN");
  const bool ends_in_space = line.ends_with(' ');
  const auto source = parse_address(take_word(line), family == "TCP4");
  const auto destination = parse_address(take_word(line), family == "TCP4");
  const auto source_port = parse_port(take_word(line));
  const auto destination_port = parse_port(take_word(line));
  if (!source || !destination || !source_port || !destination_port || !line.empty() ||
      ends_in_space)
    return failed("not two addresses and two ports with one space between them");
  found.header.source = proxy_peer{.address = *source, .port = *source_port};
  found.header.destination = proxy_peer{.address = *destination, .port = *destination_port};
  return found;
}

proxy_outcome parse_text(std::string_view received) noexcept {
  const std::string_view longest = received.substr(0, text_bytes_max);
  const std::size_t cr = longest.find('\r');
  if (longest.substr(0, cr).contains('\n')) return failed("a line that ends without CR");
  if (cr == std::string_view::npos || cr + 1 == longest.size()) {
    return longest.size() == text_bytes_max ? failed("a line of more than 107 bytes")
                                            : proxy_outcome{};
  }
  if (longest[cr + 1] != '\n') return failed("CR without LF");
  return parse_line(longest.substr(0, cr), cr + 2);
}

// Version 2, section 2.2.

// Takes the first TLV off. None where it reaches over the end.
std::optional<proxy_tlv> take_tlv(std::string_view& rest) noexcept {
  if (rest.size() < 3 || rest.size() - 3 < number_at(rest, 1)) return std::nullopt;
  const proxy_tlv found{.type = byte_at(rest, 0), .value = rest.substr(3, number_at(rest, 1))};
  rest.remove_prefix(3 + found.value.size());
  return found;
}

// Of all of the header, its own four bytes taken for 0.
bool is_checksum_right(std::string_view header, std::string_view checksum) noexcept {
  constexpr std::string_view zeros{"\0\0\0\0", 4};
  const auto before = static_cast<std::size_t>(checksum.data() - header.data());
  const std::uint32_t sum =
      crc32c(header.substr(before + 4), crc32c(zeros, crc32c(header.substr(0, before))));
  const std::uint32_t said =
      static_cast<std::uint32_t>(number_at(checksum, 0)) << 16 | number_at(checksum, 2);
  return sum == said;
}

// Why the TLVs are not to be believed; empty where they are.
std::string_view fault_of_tlvs(std::string_view header, std::string_view tlvs) noexcept {
  bool has_checksum = false;
  while (!tlvs.empty()) {
    const auto tlv = take_tlv(tlvs);
    if (!tlv) return "a TLV reaches over the end";
    if (tlv->type != tlv_crc32c) continue;
    if (has_checksum || tlv->value.size() != 4) return "not one checksum of four bytes";
    if (!is_checksum_right(header, tlv->value)) return "the checksum is wrong";
    has_checksum = true;
  }
  return {};
}

// Both addresses, then both ports.
template <std::size_t Bytes>
void read_peers(std::string_view from, proxy_header& into) noexcept {
  std::array<std::uint8_t, Bytes> source;
  std::array<std::uint8_t, Bytes> destination;
  for (std::size_t i = 0; i < Bytes; ++i) {
    source[i] = byte_at(from, i);
    destination[i] = byte_at(from, Bytes + i);
  }
  into.source = proxy_peer{.address = net::ip_address{source}, .port = number_at(from, 2 * Bytes)};
  into.destination =
      proxy_peer{.address = net::ip_address{destination}, .port = number_at(from, 2 * Bytes + 2)};
}

// By the upper half of the family byte: UNSPEC, IPv4, IPv6, Unix.
constexpr std::array<std::size_t, 4> address_bytes = {0, 12, 36, 216};

proxy_outcome parse_addresses(std::string_view header) noexcept {
  proxy_outcome found{.status = proxy_status::complete, .header = {.size_bytes = header.size()}};
  const unsigned family = byte_at(header, 13) >> 4;
  const unsigned transport = byte_at(header, 13) & 15u;
  if (family >= address_bytes.size() || transport > 2 || (family == 0) != (transport == 0))
    return failed("a family or transport that is not specified");
  const std::string_view block = header.substr(fixed_bytes);
  if (block.size() < address_bytes[family]) return failed("the addresses are cut off");
  // What stands behind UNSPEC is not specified, and is skipped (section 2.2).
  if (family == 0) return found;
  found.header.tlvs = block.substr(address_bytes[family]);
  if (const std::string_view fault = fault_of_tlvs(header, found.header.tlvs); !fault.empty())
    return failed(fault);
  if (family == 1) read_peers<4>(block, found.header);
  if (family == 2) read_peers<16>(block, found.header);
  return found;
}

proxy_outcome parse_binary(std::string_view received, const proxy_limits& bounds) noexcept {
  if (received.size() > 12 && byte_at(received, 12) != 0x20 && byte_at(received, 12) != 0x21)
    return failed("neither LOCAL nor PROXY of version 2");
  if (received.size() < fixed_bytes) return {};
  const std::size_t size = fixed_bytes + number_at(received, 14);
  if (size > bounds.header_bytes) return failed("the header is larger than the limit");
  if (received.size() < size) return {};
  if (byte_at(received, 12) == 0x21) return parse_addresses(received.substr(0, size));
  return {.status = proxy_status::complete, .header = {.size_bytes = size, .is_local = true}};
}

}  // namespace

std::optional<std::string_view> proxy_header::find(std::uint8_t type) const noexcept {
  for (std::string_view rest = tlvs; !rest.empty();) {
    const auto tlv = take_tlv(rest);
    if (!tlv) break;
    if (tlv->type == type) return tlv->value;
  }
  return std::nullopt;
}

proxy_outcome parse_proxy_header(std::string_view received, const proxy_limits& bounds) noexcept {
  if (received.starts_with(text_signature)) return parse_text(received);
  if (received.starts_with(binary_signature)) return parse_binary(received, bounds);
  if (text_signature.starts_with(received) || binary_signature.starts_with(received)) return {};
  return failed("no PROXY header");
}

}  // namespace weft::http
