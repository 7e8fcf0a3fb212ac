#include "websocket_conversation.hpp"

#include <string>
#include <utility>

namespace weft::bench {

void websocket_conversation::restart() {
  in_order_conversation::restart();
  handshake_.emplace(head_, draw_websocket_key());
  own_ = handshake_->request();
  own_sent_ = 0;
  is_open_ = is_within_message_ = false;
  header_ = {};
  payload_left_ = echoed_ = 0;
  control_.clear();
}

bool websocket_conversation::speaks_for_itself() const {
  return !own_.empty() && (own_sent_ != 0 || !is_within_request());
}

std::size_t websocket_conversation::unsent(std::span<iovec> pieces) {
  if (!speaks_for_itself()) return in_order_conversation::unsent(pieces);
  pieces.front() = {.iov_base = own_.data() + own_sent_, .iov_len = own_.size() - own_sent_};
  return 1;
}

void websocket_conversation::advance(std::size_t sent_bytes) {
  if (!speaks_for_itself()) return in_order_conversation::advance(sent_bytes);
  own_sent_ += sent_bytes;
  if (own_sent_ != own_.size()) return;
  own_.clear();
  own_sent_ = 0;
}

conversation::verdict websocket_conversation::take(std::string_view bytes) {
  verdict now = is_open_ ? verdict::going_on : open(bytes);
  while (now == verdict::going_on && is_open_ && !bytes.empty()) now = take_frame(bytes);
  return now;
}

conversation::verdict websocket_conversation::open(std::string_view& bytes) {
  const auto [state, used] = handshake_->take(bytes);
  bytes.remove_prefix(used);
  is_open_ = state == websocket_handshake::progress::done;
  return state == websocket_handshake::progress::failed ? verdict::refused : verdict::going_on;
}

conversation::verdict websocket_conversation::take_frame(std::string_view& bytes) {
  if (!header_.is_whole()) {
    bytes.remove_prefix(header_.take(bytes));
    if (!header_.is_whole()) return verdict::going_on;
    if (!header_.is_valid()) return verdict::malformed;
    const bool continues = header_.means() == opcode::continuation;
    if (!header_.is_control() && continues != is_within_message_) return verdict::malformed;
    payload_left_ = header_.payload_bytes();
  }
  const std::string_view piece = bytes.substr(0, payload_left_);
  bytes.remove_prefix(piece.size());
  payload_left_ -= piece.size();
  const verdict now = take_payload(piece);
  return now == verdict::going_on && payload_left_ == 0 ? end_frame() : now;
}

conversation::verdict websocket_conversation::take_payload(std::string_view piece) {
  if (header_.is_control()) {
    control_ += piece;
    return verdict::going_on;
  }
  if (owes_nothing()) return verdict::unasked;
  const std::string& expected = asked().echo;
  if (expected.empty()) return verdict::going_on;
  if (!std::string_view{expected}.substr(echoed_).starts_with(piece)) return verdict::malformed;
  echoed_ += piece.size();
  return verdict::going_on;
}

conversation::verdict websocket_conversation::end_frame() {
  const frame_header ended = std::exchange(header_, {});
  if (ended.is_control()) {
    const std::string payload = std::exchange(control_, {});
    if (ended.means() == opcode::close) return verdict::closed;
    if (ended.means() == opcode::ping) own_ += masked_frame(opcode::pong, payload);
    return verdict::going_on;
  }
  is_within_message_ = !ended.is_final();
  if (is_within_message_) return verdict::going_on;
  if (echoed_ != asked().echo.size()) return verdict::malformed;
  if (!is_sent()) return verdict::unasked;
  echoed_ = 0;
  complete(0);
  return verdict::going_on;
}

std::string_view websocket_conversation::failure() const {
  return handshake_ ? std::string_view{handshake_->failure()} : std::string_view{};
}

}  // namespace weft::bench
