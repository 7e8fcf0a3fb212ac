#include <weft/http/websocket/websocket.hpp>

#include <weft/http/websocket/session.hpp>

namespace weft::http {
namespace ws {

wait_line& message_wait::line() noexcept { return session_.line(); }

bool message_wait::take() noexcept { return session_.look_for_message(); }

result<websocket_message> message_wait::await_resume() noexcept {
  if (!outcome()) return fail(outcome().error());
  return session_.take_message();
}

bool message_send::await_ready() { return session_.send_now(what_, outcome_); }

task<result<void>> message_send::send_later() { return session_.send_later(what_); }

}  // namespace ws

websocket::~websocket() {
  if (session_ != nullptr) session_->release(close_code::normal);
}

borrowing_task<result<void>> websocket::send_part(websocket_message part, bool is_last) {
  return session_->send_part(part, is_last);
}

task<result<void>> websocket::close(close_code code, owned_text reason) {
  return session_->close(code, std::move(reason));
}

bool websocket::is_open() const noexcept { return session_->is_open(); }

websocket_end websocket::end() const noexcept { return session_->end(); }

std::string_view websocket::subprotocol() const noexcept { return session_->subprotocol(); }

result<net::endpoint> websocket::peer_endpoint() const {
  if (!session_->link().is_open()) return fail(errc::closed);
  return session_->link().peer_endpoint();
}

const net::tls_info* websocket::tls() const noexcept {
  return session_->link().is_open() ? session_->link().tls() : nullptr;
}

}  // namespace weft::http
