#include <weft/http/forwarded.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <weft/http/field_syntax.hpp>

namespace weft::http {
namespace {

constexpr std::size_t hops_max = 32;

// The last hops_max elements of all fields of a name, in order.
class last_elements {
 public:
  last_elements(const header_list& headers, std::string_view name) noexcept {
    for (std::size_t i = headers.index_of(name); i < headers.size();
         i = headers.index_of(name, i + 1))
      for (std::string_view rest = headers[i].value; !rest.empty();)
        if (const std::string_view element = field_syntax::take_element(rest); !element.empty())
          ring_[count_++ % hops_max] = element;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  // From the right; none where the list, or what we look at of it, is over.
  [[nodiscard]] std::optional<std::string_view> from_right(std::size_t index) const noexcept {
    if (index >= std::min(count_, hops_max)) return std::nullopt;
    return ring_[(count_ - 1 - index) % hops_max];
  }

 private:
  std::array<std::string_view, hops_max> ring_;
  std::size_t count_ = 0;
};

// What an element says; `address` is empty where it hides who it was.
struct hop {
  std::optional<net::ip_address> address;
  std::string_view proto;
  std::string_view host;
};

// An address, maybe with a port, brackets around IPv6 where there is one. None where it is neither.
std::optional<net::ip_address> parse_node(std::string_view text, bool needs_brackets) noexcept {
  std::string_view address = text;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view behind = text.substr(close + 1);
    if (!behind.empty() && (behind.front() != ':' || !scan::is_port(behind.substr(1))))
      return std::nullopt;
    address = text.substr(1, close - 1);
    if (!address.contains(':')) return std::nullopt;
  } else if (std::ranges::count(text, ':') == 1) {
    const std::size_t colon = text.find(':');
    if (!scan::is_port(text.substr(colon + 1))) return std::nullopt;
    address = text.substr(0, colon);
  } else if (needs_brackets && text.contains(':')) {
    return std::nullopt;
  }
  const auto parsed = net::ip_address::parse(address);
  return parsed ? std::optional{*parsed} : std::nullopt;
}

// nodename = IPv4 / "[" IPv6 "]" / "unknown" / obfnode (RFC 7239 section 6).
bool is_hidden(std::string_view node) noexcept {
  const std::string_view name = node.substr(0, node.find(':'));
  if (equals_ignoring_case(name, "unknown")) return true;
  return name.size() > 1 && name.front() == '_' && field_syntax::is_token(name);
}

// forwarded-element = [ pair ] *( ";" [ pair ] ), each name once (RFC 7239 section 4).
std::optional<hop> parse_forwarded(std::string_view element) noexcept {
  hop found;
  std::string_view node;
  bool has_proto = false;
  bool has_host = false;
  while (!element.empty()) {
    const std::string_view pair = field_syntax::take_element(element, ';');
    if (pair.empty()) continue;
    const auto parsed = field_syntax::parse_parameter(pair);
    // No value of ours has a character that must be hidden.
    if (!parsed || parsed->value.contains('\\')) return std::nullopt;
    if (equals_ignoring_case(parsed->name, "for")) {
      if (!node.empty() || parsed->value.empty()) return std::nullopt;
      node = parsed->value;
    } else if (equals_ignoring_case(parsed->name, "proto")) {
      if (std::exchange(has_proto, true)) return std::nullopt;
      found.proto = parsed->value;
    } else if (equals_ignoring_case(parsed->name, "host")) {
      if (std::exchange(has_host, true)) return std::nullopt;
      found.host = parsed->value;
    }
  }
  if (node.empty()) return std::nullopt;
  if (is_hidden(node)) return found;
  found.address = parse_node(node, true);
  return found.address ? std::optional{found} : std::nullopt;
}

std::optional<hop> parse_x_forwarded_for(std::string_view element) noexcept {
  if (equals_ignoring_case(element, "unknown")) return hop{};
  const auto address = parse_node(element, false);
  return address ? std::optional{hop{.address = address, .proto = {}, .host = {}}} : std::nullopt;
}

// Of X-Forwarded-Proto, for the hop that is so far from the right.
std::string_view proto_of(const header_list& headers, std::size_t hop) noexcept {
  const last_elements protos{headers, "x-forwarded-proto"};
  return protos.from_right(protos.size() == 1 ? 0 : hop).value_or(std::string_view{});
}

}  // namespace

result<forwarded_client> find_client(const connection_peer& peer, const header_list& headers,
                                     forwarding field, const trusted_proxies& trusted) noexcept {
  forwarded_client client{.address = peer.address};
  if (field == forwarding::none || !trusted.contain(peer)) return client;
  const bool is_standard = field == forwarding::forwarded;
  const std::string_view name = is_standard ? "forwarded" : "x-forwarded-for";
  const last_elements elements{headers, name};
  std::size_t hops = 0;
  do {
    const auto element = elements.from_right(hops);
    // All who were asked are trusted: the first of them made the request itself.
    if (!element) break;
    const auto said = is_standard ? parse_forwarded(*element) : parse_x_forwarded_for(*element);
    if (!said) return fail(errc::protocol_error);
    client = {
        .address = said->address, .proto = said->proto, .host = said->host, .is_forwarded = true};
    ++hops;
  } while (client.address && trusted.contain(*client.address));
  // A field without an element passes somebody on and does not say whom.
  if (hops == 0 && headers.find(name)) return forwarded_client{.address = {}, .is_forwarded = true};
  if (!is_standard && hops != 0) client.proto = proto_of(headers, hops - 1);
  return client;
}

}  // namespace weft::http
