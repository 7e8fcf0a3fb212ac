#include <weft/http/websocket/client_websocket.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/client/lone_answer.hpp>
#include <weft/http/websocket/handshake.hpp>
#include <weft/http/websocket/mask_keys.hpp>

namespace weft::http::ws {
namespace {

using opened = std::expected<websocket, request_fault>;

std::unexpected<request_fault> no_websocket(error why, std::string message) {
  return std::unexpected{request_fault{.why = why, .message = std::move(message)}};
}

/// 16 bytes that nobody can foresee, in base64 (RFC 6455 section 4.1).
std::string draw_key() {
  std::array<std::uint32_t, 4> drawn;
  std::ranges::generate(drawn, &next_mask_key);
  std::string text(25, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(drawn.data()), 16);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

bool compresses(const websocket_client_options& options) noexcept {
  return options.compression != websocket_compression::off;
}

deflate_wishes wishes_of(const websocket_client_options& options) noexcept {
  return {.context_takeover = options.compression == websocket_compression::context};
}

std::string request_text(client_core& core, const handshake_request& asked,
                         const websocket_client_options& options, std::string_view key) {
  std::string text = weft::format(
      "GET {}{} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: {}\r\n",
      asked.to.target.starts_with('/') ? "" : "/", asked.to.target, asked.to.authority, key,
      version);
  if (!options.subprotocols.empty()) {
    text += "Sec-WebSocket-Protocol: ";
    for (const std::string& each : options.subprotocols)
      text += (&each == options.subprotocols.data() ? "" : ", ") + each;
    text += "\r\n";
  }
  if (compresses(options))
    text.append("Sec-WebSocket-Extensions: ").append(offer_deflate(wishes_of(options))) += "\r\n";
  if (!core.options.user_agent.empty())
    text.append("User-Agent: ").append(core.options.user_agent) += "\r\n";
  return text.append(asked.fields).append(core.cookie_line(asked.to, asked.fields)).append("\r\n");
}

/// The value of a field that stands there once at most; empty: it does not.
std::expected<std::string_view, request_fault> single(const header_list& headers,
                                                      std::string_view name) {
  if (count(headers, name) > 1)
    return no_websocket(errc::protocol_error, weft::format("the server answers two {}", name));
  return headers.find(name).value_or(std::string_view{});
}

errc meaning_of_refusal(status answered) noexcept {
  if (answered == status::not_found || answered == status::gone) return errc::not_found;
  return std::to_underlying(answered) >= 500 ? errc::unavailable : errc::invalid_argument;
}

struct agreement {
  std::string subprotocol;
  std::optional<deflate_parameters> deflate;
};

/// What the server has answered, to the letter.
std::expected<agreement, request_fault> read_terms(const response_head& head,
                                                   const websocket_client_options& options,
                                                   std::string_view key) {
  if (head.status() != status::switching_protocols) {
    request_fault why{meaning_of_refusal(head.status()),
                      weft::format("the server opens no WebSocket: {} {}",
                                   std::to_underlying(head.status()), head.reason())};
    why.answered = head.status();
    return std::unexpected{std::move(why)};
  }
  const header_list& headers = head.headers();
  if (!lists(headers, "upgrade", "websocket") || !head.upgrade())
    return no_websocket(errc::protocol_error, "the server upgrades to something else");
  const auto accepted = single(headers, "sec-websocket-accept");
  if (!accepted) return std::unexpected{accepted.error()};
  if (*accepted != accept_value{key}.text())
    return no_websocket(errc::protocol_error, "the server has not read the handshake's key");
  const auto protocol = single(headers, "sec-websocket-protocol");
  if (!protocol) return std::unexpected{protocol.error()};
  if (!protocol->empty() && !std::ranges::contains(options.subprotocols, *protocol))
    return no_websocket(errc::protocol_error,
                        "the server speaks a subprotocol that was not offered");
  agreement agreed{.subprotocol = std::string{*protocol}, .deflate = {}};
  const auto extensions = single(headers, "sec-websocket-extensions");
  if (!extensions) return std::unexpected{extensions.error()};
  if (extensions->empty()) return agreed;
  if (!compresses(options))
    return no_websocket(errc::protocol_error,
                        "the server answers an extension that nobody offered");
  const auto read = read_deflate_answer(*extensions, wishes_of(options));
  if (!read) return no_websocket(errc::protocol_error, std::string{read.error()});
  agreed.deflate = *read;
  return agreed;
}

}  // namespace

client_websocket::client_websocket(client_core& core, client_session_parts parts,
                                   const std::optional<deflate_parameters>& deflate)
    : client_session_parts{std::move(parts)},
      session{{.self = role::client,
               .loop = core.loop,
               .limits = client_session_parts::limits,
               .counts = client_session_parts::counts,
               .deflate = deflate,
               .subprotocol = client_session_parts::subprotocol}},
      open_stream{.cut = &on_cut} {
  core.streams.push_back(*this);
}

client_websocket::~client_websocket() {
  if (open_stream::hook.is_linked()) open_stream::hook.unlink();
}

void client_websocket::on_cut(open_stream& self) noexcept {
  auto& mine = static_cast<client_websocket&>(self);
  mine.start_close(close_code::going_away, {});
  mine.session::cut();
}

task<opened> shake_hands(client_core& core, net::tcp_stream stream, handshake_request asked,
                         const websocket_client_options& options) {
  const std::string key = draw_key();
  const auto sent = co_await stream.write(request_text(core, asked, options, key));
  if (!sent)
    co_return no_websocket(sent.error(), "the server takes nothing: " + sent.error().message());
  const auto answer = std::make_unique<lone_answer>();
  auto came = co_await read_answer(stream, *answer);
  if (!came) {
    came.error().message.insert(0, "the server ");
    co_return std::unexpected{std::move(came.error())};
  }
  core.take_cookies(asked.to, answer->head.headers());
  auto agreed = read_terms(answer->head, options, key);
  if (!agreed) co_return std::unexpected{std::move(agreed.error())};
  if (core.is_stopped) co_return no_websocket(errc::unavailable, "the client has been stopped");
  auto* const made = new client_websocket{
      core, {options.limits, core.websockets, std::move(agreed->subprotocol)}, agreed->deflate};
  websocket socket{*made};
  made->begin(std::move(stream));
  co_return std::move(socket);
}

}  // namespace weft::http::ws
