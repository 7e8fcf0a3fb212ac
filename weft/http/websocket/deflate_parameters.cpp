#include <weft/http/websocket/deflate_parameters.hpp>

#include <weft/base/format.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/scan.hpp>

namespace weft::http::ws {
namespace {

using field_syntax::parameter;

constexpr std::string_view extension_name = "permessage-deflate";

/// What an element says: which parameters, and how many bits.
struct said {
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  std::optional<std::uint8_t> server_max_window_bits;
  bool has_client_max_window_bits = false;
  std::optional<std::uint8_t> client_max_window_bits;
};

/// Without leading zeroes, 8 to 15 (RFC 7692 section 7.1.2).
std::optional<std::uint8_t> read_bits(const parameter& from) {
  constexpr std::uint64_t least = 8;
  if (from.value.starts_with('0')) return std::nullopt;
  const auto bits = scan::decimal(from.value);
  if (!bits || *bits < least || *bits > deflate_parameters::most_window_bits) return std::nullopt;
  return static_cast<std::uint8_t>(*bits);
}

/// False: it must not stand there.
bool take(said& into, std::string_view piece) {
  const std::string_view name = field_syntax::trim(piece.substr(0, piece.find('=')));
  const bool has_value = piece.contains('=');
  const auto flag = [&](bool& which) { return !has_value && !std::exchange(which, true); };
  if (name == "server_no_context_takeover") return flag(into.server_no_context_takeover);
  if (name == "client_no_context_takeover") return flag(into.client_no_context_takeover);
  std::optional<std::uint8_t> bits;
  if (has_value) {
    const auto read = field_syntax::parse_parameter(piece);
    if (!read) return false;
    bits = read_bits(*read);
    if (!bits) return false;
  }
  if (name == "server_max_window_bits") {
    if (!bits || into.server_max_window_bits) return false;
    into.server_max_window_bits = bits;
    return true;
  }
  if (name != "client_max_window_bits" || std::exchange(into.has_client_max_window_bits, true))
    return false;
  into.client_max_window_bits = bits;
  return true;
}

/// Nothing: it is another extension, or malformed.
std::optional<said> read_element(std::string_view element) {
  if (field_syntax::take_element(element, ';') != extension_name) return std::nullopt;
  said all;
  while (!element.empty())
    if (!take(all, field_syntax::take_element(element, ';'))) return std::nullopt;
  return all;
}

}  // namespace

std::string deflate_parameters::text() const {
  std::string all{extension_name};
  if (server_no_context_takeover) all += "; server_no_context_takeover";
  if (client_no_context_takeover) all += "; client_no_context_takeover";
  if (names_server_window || server_max_window_bits != most_window_bits)
    all += weft::format("; server_max_window_bits={}", server_max_window_bits);
  if (client_max_window_bits != most_window_bits)
    all += weft::format("; client_max_window_bits={}", client_max_window_bits);
  return all;
}

std::optional<deflate_parameters> accept_deflate(std::string_view offers,
                                                 const deflate_wishes& own) {
  while (!offers.empty()) {
    const auto offer = read_element(field_syntax::take_element(offers));
    if (!offer) continue;
    deflate_parameters agreed{
        .server_no_context_takeover = offer->server_no_context_takeover || !own.context_takeover,
        .client_no_context_takeover = offer->client_no_context_takeover || !own.context_takeover,
        .server_max_window_bits =
            offer->server_max_window_bits.value_or(deflate_parameters::most_window_bits),
        .names_server_window = offer->server_max_window_bits.has_value()};
    if (agreed.server_max_window_bits < deflate_parameters::least_window_bits) continue;
    return agreed;
  }
  return std::nullopt;
}

std::string_view offer_deflate(const deflate_wishes& own) noexcept {
  return own.context_takeover ? "permessage-deflate; client_max_window_bits"
                              : "permessage-deflate; server_no_context_takeover; "
                                "client_no_context_takeover; client_max_window_bits";
}

std::expected<deflate_parameters, std::string_view> read_deflate_answer(
    std::string_view answer, const deflate_wishes& offered) {
  const auto element = read_element(field_syntax::take_element(answer));
  if (!element)
    return std::unexpected{
        "the server answers with an extension or a parameter that was not "
        "offered"};
  if (!answer.empty()) return std::unexpected{"the server answers with two extensions"};
  if (element->has_client_max_window_bits && !element->client_max_window_bits)
    return std::unexpected{"the server answers client_max_window_bits without a value"};
  const deflate_parameters agreed{
      .server_no_context_takeover = element->server_no_context_takeover,
      .client_no_context_takeover =
          element->client_no_context_takeover || !offered.context_takeover,
      .server_max_window_bits =
          element->server_max_window_bits.value_or(deflate_parameters::most_window_bits),
      .client_max_window_bits =
          element->client_max_window_bits.value_or(deflate_parameters::most_window_bits)};
  if (!offered.context_takeover && !agreed.server_no_context_takeover)
    return std::unexpected{"the server does not keep to server_no_context_takeover"};
  if (agreed.client_max_window_bits < deflate_parameters::least_window_bits)
    return std::unexpected{"the server wants a window of 8 bits, which zlib does not make"};
  return agreed;
}

}  // namespace weft::http::ws
