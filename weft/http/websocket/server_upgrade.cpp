#include <weft/http/websocket/server_upgrade.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weft/http/active_request.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/websocket/handshake.hpp>
#include <weft/http/websocket/server_websocket.hpp>

namespace weft::http::ws {

server_upgrade::server_upgrade(exchange& e, const websocket_options& options) noexcept
    : exchange_{e}, options_{options} {}

server_upgrade::~server_upgrade() = default;

bool server_upgrade::agree() {
  if (!asks_for_websocket() || !has_key_and_version() || !may_come_from_its_page() ||
      !choose_subprotocol())
    return false;
  if (exchange_.host().draining.stop_requested())
    return refuse(status::service_unavailable, "this server ends: ask another");
  choose_compression();
  return true;
}

bool server_upgrade::refuse(status code, std::string_view why, std::string_view fields) {
  exchange_.reply_problem(code, why, fields);
  return false;
}

bool server_upgrade::is_stream() const noexcept { return exchange_.request().major_version() == 2; }

bool server_upgrade::asks_for_websocket() {
  const http::request& asked = exchange_.request();
  const bool is_get = asked.method() == method::get && asked.minor_version() != 0;
  if (!is_get || !lists(asked.headers(), "upgrade", "websocket"))
    return refuse(status::upgrade_required,
                  "this path speaks WebSocket: send a GET with Upgrade: websocket",
                  "Upgrade: websocket\r\nConnection: Upgrade\r\n");
  if (!exchange_.of_.head.upgrade())
    return refuse(status::bad_request, "Upgrade without Connection: Upgrade");
  if (exchange_.more_has_come_ && !is_stream())
    return refuse(status::bad_request, "bytes came before the handshake was answered");
  return true;
}

bool server_upgrade::has_key_and_version() {
  const header_list& headers = exchange_.request().headers();
  if (count(headers, "sec-websocket-version") != 1)
    return refuse(status::bad_request, "a handshake has one Sec-WebSocket-Version");
  if (headers.find("sec-websocket-version") != version)
    return refuse(status::upgrade_required, "this server speaks version 13 of WebSocket",
                  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n");
  if (is_stream()) return true;
  if (count(headers, "sec-websocket-key") != 1 || !is_key(*headers.find("sec-websocket-key")))
    return refuse(status::bad_request, "a handshake has one Sec-WebSocket-Key, base64 of 16 bytes");
  return true;
}

bool server_upgrade::may_come_from_its_page() {
  const http::request& asked = exchange_.request();
  const auto origin = asked.header("origin");
  if (!origin) return true;  // no browser
  const auto is_named = [&](std::string_view one) { return one == "*" || one == *origin; };
  if (count(asked.headers(), "origin") == 1 &&
      (std::ranges::any_of(options_.origins, is_named) ||
       is_same_origin(*origin, asked.scheme(), asked.header("host").value_or(""))))
    return true;
  return refuse(status::forbidden,
                "pages of this origin may not connect: the server's websocket_options::origins "
                "names those that may");
}

bool server_upgrade::choose_subprotocol() {
  const header_list& headers = exchange_.request().headers();
  std::vector<std::string_view> offered;
  for (const auto [name, value] : headers) {
    if (!equals_ignoring_case(name, "sec-websocket-protocol")) continue;
    for (std::string_view rest = value; !rest.empty();) {
      offered.push_back(field_syntax::take_element(rest));
      if (!field_syntax::is_token(offered.back()))
        return refuse(status::bad_request, "Sec-WebSocket-Protocol is a list of tokens");
    }
  }
  for (const std::string& each : options_.subprotocols) {
    if (!std::ranges::contains(offered, each)) continue;
    subprotocol_ = each;
    break;
  }
  return true;
}

void server_upgrade::choose_compression() {
  if (options_.compression == websocket_compression::off) return;
  const deflate_wishes own{.context_takeover =
                               options_.compression == websocket_compression::context};
  for (const auto [name, value] : exchange_.request().headers()) {
    if (!equals_ignoring_case(name, "sec-websocket-extensions")) continue;
    deflate_ = accept_deflate(value, own);
    if (deflate_) return;
  }
}

websocket& server_upgrade::socket() {
  connection_host& host = exchange_.host();
  made_ = std::make_unique<server_websocket>(session_terms{.self = role::server,
                                                           .loop = host.loop,
                                                           .limits = options_.limits,
                                                           .counts = host.websockets,
                                                           .deflate = deflate_,
                                                           .subprotocol = subprotocol_},
                                             host, exchange_.of_.match);
  return made_->socket();
}

void server_upgrade::accept(task<void> work) {
  made_->set_work(std::move(work));
  std::string fields{"Upgrade: websocket\r\nConnection: Upgrade\r\n"};
  if (!is_stream())
    fields.append("Sec-WebSocket-Accept: ")
        .append(accept_value{*exchange_.request().header("sec-websocket-key")}.text())
        .append("\r\n");
  if (!subprotocol_.empty())
    fields.append("Sec-WebSocket-Protocol: ").append(subprotocol_).append("\r\n");
  if (deflate_) fields.append("Sec-WebSocket-Extensions: ").append(deflate_->text()).append("\r\n");
  exchange_.upgrade(fields, std::move(made_));
}

}  // namespace weft::http::ws
