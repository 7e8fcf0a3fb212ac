#include <weft/http/websocket/message_reader.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/http/websocket/mask.hpp>
#include <weft/http/websocket/message_deflate.hpp>

namespace weft::http::ws {
namespace {

constexpr std::string_view no_utf8 = "text that is not UTF-8";
constexpr std::string_view too_long = "the message is longer than is taken here";

}  // namespace

read_progress message_reader::next(std::span<char> input) {
  std::size_t consumed = 0;
  is_in_memory_ = false;
  for (;;) {
    if (!in_frame_) {
      const std::span<char> rest = input.subspan(consumed);
      const frame_progress step = parser_.parse({rest.data(), rest.size()}, head_);
      consumed += step.consumed_bytes;
      if (step.status == frame_status::incomplete) return {read_event::nothing, consumed};
      if (step.status == frame_status::failed) {
        fault_ = parser_.fault();
        return {read_event::failed, consumed};
      }
      if (const read_event wrong = begin_frame(); wrong != read_event::nothing)
        return {wrong, consumed};
    }
    const std::span<char> piece =
        input.subspan(consumed, std::min<std::uint64_t>(left_, input.size() - consumed));
    if (piece.empty() && left_ != 0) return {read_event::nothing, consumed};
    consumed += piece.size();
    const bool is_whole_frame = left_ == head_.payload_bytes && left_ == piece.size();
    const read_event event = take_payload(piece, is_whole_frame);
    if (event != read_event::nothing) return {event, consumed};
  }
}

bool message_reader::take_message(message_memory& into) noexcept {
  if (is_in_memory_) into = std::exchange(memory_, message_memory{memory_.pool()});
  return is_in_memory_;
}

read_event message_reader::begin_frame() {
  in_frame_ = true;
  left_ = head_.payload_bytes;
  if (is_control(head_.kind)) return read_event::nothing;
  if (head_.kind != opcode::continuation) {
    kind_ = head_.kind == opcode::text ? message_kind::text : message_kind::binary;
    is_compressed_ = head_.is_compressed;
    utf8_.reset();
    memory_.clear();
  }
  if (left_ > message_bytes_ - memory_.size()) return fail(close_code::message_too_big, too_long);
  return read_event::nothing;
}

read_event message_reader::take_payload(std::span<char> piece, bool is_whole_frame) {
  if (head_.is_masked) apply_mask(piece, head_.key, head_.payload_bytes - left_);
  left_ -= piece.size();
  in_frame_ = left_ != 0;
  const std::string_view text{piece.data(), piece.size()};
  return is_control(head_.kind) ? take_control(text, is_whole_frame)
                                : take_data(text, is_whole_frame);
}

read_event message_reader::take_control(std::string_view piece, bool is_whole_frame) {
  whole_ = piece;
  if (!is_whole_frame) {
    if (in_parts_ == nullptr) in_parts_ = std::make_unique<control_room>();
    const std::size_t end = head_.payload_bytes - left_;
    std::memcpy(in_parts_->data() + (end - piece.size()), piece.data(), piece.size());
    if (in_frame_) return read_event::nothing;
    whole_ = {in_parts_->data(), end};
  }
  switch (head_.kind) {
    case opcode::ping: return read_event::ping;
    case opcode::pong: return read_event::pong;
    default: return check_close();
  }
}

read_event message_reader::take_data(std::string_view piece, bool is_whole_frame) {
  if (kind_ == message_kind::text && !is_compressed_ && !utf8_.feed(piece))
    return fail(close_code::invalid_data, no_utf8);
  const bool ends = head_.is_final && !in_frame_;
  if (ends && is_whole_frame && memory_.empty()) return end_message(piece, true);
  memory_.append(piece);
  return ends ? end_message(memory_.text(), false) : read_event::nothing;
}

read_event message_reader::end_message(std::string_view payload, bool lies_in_input) {
  if (is_compressed_) {
    message_memory plain{memory_.pool()};
    const auto done = inflater_->inflate(payload, plain, message_bytes_);
    if (!done) {
      if (done.error() == errc::limit_exceeded) return fail(close_code::message_too_big, too_long);
      if (done.error() == errc::protocol_error)
        return fail(close_code::invalid_data, "the message is not compressed as it says");
      return fail(close_code::internal_error, "there is no memory to inflate the message");
    }
    memory_ = std::move(plain);
    payload = memory_.text();
    lies_in_input = false;
    if (kind_ == message_kind::text && !utf8_.feed(payload))
      return fail(close_code::invalid_data, no_utf8);
  }
  if (kind_ == message_kind::text && !utf8_.is_whole())
    return fail(close_code::invalid_data, no_utf8);
  whole_ = payload;
  is_in_memory_ = !lies_in_input;
  return read_event::message;
}

read_event message_reader::check_close() noexcept {
  if (whole_.size() == 1) return fail(close_code::protocol_error, "a close frame has half a code");
  if (whole_.empty()) return read_event::close;
  const close_reason said = closing();
  if (!may_be_sent(said.code))
    return fail(close_code::protocol_error, "a close frame has a code that must not be sent");
  utf8_.reset();  // no message comes after it
  if (!utf8_.feed(said.text) || !utf8_.is_whole())
    return fail(close_code::invalid_data, "a close frame's reason is not UTF-8");
  return read_event::close;
}

close_reason message_reader::closing() const noexcept {
  if (whole_.size() < 2) return {};
  const auto byte = [this](std::size_t at) { return static_cast<unsigned char>(whole_[at]); };
  const unsigned number = unsigned{byte(0)} << 8U | byte(1);
  return {static_cast<close_code>(number), whole_.substr(2)};
}

read_event message_reader::fail(close_code code, std::string_view reason) noexcept {
  fault_ = {code, reason};
  return read_event::failed;
}

}  // namespace weft::http::ws
