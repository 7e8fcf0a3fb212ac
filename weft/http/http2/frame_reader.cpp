#include <weft/http/http2/frame_reader.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::http::http2 {
namespace {

constexpr std::uint32_t priority_bytes = 5;
constexpr std::uint32_t setting_bytes = 6;
constexpr std::uint32_t goaway_bytes = 8;

bool depends_on_itself(const char* priority, std::int32_t stream) noexcept {
  return read_id(priority) == stream;
}

}  // namespace

bool frame_reader::next(std::string_view& rest, frame& into) {
  if (shown_.size() != 0) [[unlikely]]
    shown_ = pooled_text{};
  while (wrong_ == NGHTTP2_NO_ERROR) {
    switch (state_) {
      case state::preface:
        if (!take_preface(rest)) return false;
        break;
      case state::head:
        if (!take_head(rest)) return false;
        break;
      case state::payload: return take_payload(rest, into);
      case state::data: return take_data(rest, into);
      case state::passing: {
        const std::size_t passed = std::min<std::size_t>(left_, rest.size());
        rest.remove_prefix(passed);
        left_ -= static_cast<std::uint32_t>(passed);
        if (left_ != 0) return false;
        state_ = state::head;
        break;
      }
    }
  }
  return false;
}

bool frame_reader::take_preface(std::string_view& rest) noexcept {
  const std::string_view part =
      client_preface.substr(have_, std::min(client_preface.size() - have_, rest.size()));
  if (!rest.starts_with(part)) return fail(NGHTTP2_PROTOCOL_ERROR);
  rest.remove_prefix(part.size());
  have_ = static_cast<std::uint8_t>(have_ + part.size());
  if (have_ < client_preface.size()) return false;
  have_ = 0;
  state_ = state::head;
  return true;
}

bool frame_reader::take_head(std::string_view& rest) noexcept {
  if (have_ == 0 && rest.size() >= frame_head::size_bytes) [[likely]] {
    head_ = read_frame_head(rest.data());
    rest.remove_prefix(frame_head::size_bytes);
  } else {
    const std::size_t part = std::min(frame_head::size_bytes - have_, rest.size());
    if (part == 0) return false;
    std::memcpy(head_text_ + have_, rest.data(), part);
    rest.remove_prefix(part);
    have_ = static_cast<std::uint8_t>(have_ + part);
    if (have_ < frame_head::size_bytes) return false;
    have_ = 0;
    head_ = read_frame_head(head_text_);
  }
  if (const std::uint32_t fault = fault_of_head(); fault != NGHTTP2_NO_ERROR) [[unlikely]]
    return fail(fault);
  expects_settings_ = false;
  state_ = state::payload;
  return true;
}

// ---- heads ------------------------------------------------------------------------------------

std::uint32_t frame_reader::fault_of_head() const noexcept {
  if (head_.length > payload_most_bytes) return NGHTTP2_FRAME_SIZE_ERROR;
  if (const std::uint32_t fault = fault_of_order(); fault != NGHTTP2_NO_ERROR) return fault;
  return fault_of_length();
}

/// Where it may stand, and whether it belongs to a stream.
std::uint32_t frame_reader::fault_of_order() const noexcept {
  if (expects_settings_ && (head_.type != NGHTTP2_SETTINGS || head_.has(NGHTTP2_FLAG_ACK)))
    return NGHTTP2_PROTOCOL_ERROR;
  const bool goes_on = head_.type == NGHTTP2_CONTINUATION && head_.stream == fields_of_;
  if (fields_of_ != 0 && !goes_on) return NGHTTP2_PROTOCOL_ERROR;
  switch (head_.type) {
    case NGHTTP2_DATA:
    case NGHTTP2_PRIORITY:
    case NGHTTP2_RST_STREAM: return head_.stream != 0 ? NGHTTP2_NO_ERROR : NGHTTP2_PROTOCOL_ERROR;
    case NGHTTP2_HEADERS:  // whoever begins a stream here is a client
      return head_.stream % 2 != 0 ? NGHTTP2_NO_ERROR : NGHTTP2_PROTOCOL_ERROR;
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PING:
    case NGHTTP2_GOAWAY: return head_.stream == 0 ? NGHTTP2_NO_ERROR : NGHTTP2_PROTOCOL_ERROR;
    case NGHTTP2_PUSH_PROMISE: return NGHTTP2_PROTOCOL_ERROR;
    case NGHTTP2_CONTINUATION:
      if (fields_of_ == 0) return NGHTTP2_PROTOCOL_ERROR;
      return continuations_ < continuations_most ? NGHTTP2_NO_ERROR : NGHTTP2_ENHANCE_YOUR_CALM;
    default: return NGHTTP2_NO_ERROR;
  }
}

std::uint32_t frame_reader::fault_of_length() const noexcept {
  const auto unless = [](bool is_right) {
    return is_right ? NGHTTP2_NO_ERROR : NGHTTP2_FRAME_SIZE_ERROR;
  };
  switch (head_.type) {
    case NGHTTP2_PRIORITY: return unless(head_.length == priority_bytes);
    case NGHTTP2_RST_STREAM:
    case NGHTTP2_WINDOW_UPDATE: return unless(head_.length == 4);
    case NGHTTP2_PING: return unless(head_.length == 8);
    case NGHTTP2_GOAWAY: return unless(head_.length >= goaway_bytes);
    case NGHTTP2_SETTINGS:
      if (head_.length > settings_most_bytes) return NGHTTP2_ENHANCE_YOUR_CALM;
      return unless(head_.has(NGHTTP2_FLAG_ACK) ? head_.length == 0
                                                : head_.length % setting_bytes == 0);
    default: return NGHTTP2_NO_ERROR;
  }
}

// ---- payloads ---------------------------------------------------------------------------------

std::uint32_t frame_reader::shown_bytes() const noexcept {
  if (head_.type == NGHTTP2_DATA) return head_.has(NGHTTP2_FLAG_PADDED) && head_.length != 0;
  if (head_.type == NGHTTP2_GOAWAY) return goaway_bytes;
  return head_.type <= NGHTTP2_CONTINUATION ? head_.length : 0;
}

bool frame_reader::take_payload(std::string_view& rest, frame& into) {
  const std::size_t shown = shown_bytes();
  std::string_view payload = rest.substr(0, shown);
  if (come_.size() == 0 && payload.size() == shown) [[likely]] {
    rest.remove_prefix(shown);
  } else {
    payload = rest.substr(0, shown - come_.size());
    come_.append(payload);
    rest.remove_prefix(payload.size());
    if (come_.size() < shown) return false;
    payload = come_.view();
  }
  if (come_.size() != 0) shown_ = std::move(come_);
  state_ = state::passing;
  left_ = head_.length - static_cast<std::uint32_t>(shown);
  if (head_.type == NGHTTP2_DATA) return begin_data(payload) && next(rest, into);
  return show(payload, into);
}

bool frame_reader::begin_data(std::string_view padding) noexcept {
  padding_bytes_ = 0;
  if (head_.has(NGHTTP2_FLAG_PADDED)) {
    const std::uint32_t filled = padding.empty() ? 0 : static_cast<unsigned char>(padding[0]);
    if (padding.empty() || filled > left_) return fail(NGHTTP2_PROTOCOL_ERROR);
    left_ -= filled;
    padding_bytes_ = filled + 1;
  }
  data_begins_ = true;
  state_ = state::data;
  return true;
}

bool frame_reader::take_data(std::string_view& rest, frame& into) noexcept {
  const std::string_view piece = rest.substr(0, left_);
  if (piece.empty() && left_ != 0) return false;
  rest.remove_prefix(piece.size());
  left_ -= static_cast<std::uint32_t>(piece.size());
  static_cast<frame_head&>(into) = head_;
  into.payload = piece;
  into.begins = std::exchange(data_begins_, false);
  into.ends = left_ == 0;
  into.padding_bytes = padding_bytes_;
  if (into.ends) {
    state_ = state::passing;
    left_ = padding_bytes_ == 0 ? 0 : padding_bytes_ - 1;
  }
  return true;
}

bool frame_reader::show(std::string_view payload, frame& into) noexcept {
  static_cast<frame_head&>(into) = head_;
  into.payload = payload;
  into.begins = into.ends = true;
  into.padding_bytes = 0;
  switch (head_.type) {
    case NGHTTP2_HEADERS: return show_headers(payload, into);
    case NGHTTP2_CONTINUATION:
      ++continuations_;
      if (head_.has(NGHTTP2_FLAG_END_HEADERS)) fields_of_ = 0;
      return true;
    case NGHTTP2_PRIORITY:
      return !depends_on_itself(payload.data(), head_.stream) || fail(NGHTTP2_PROTOCOL_ERROR);
    default: return true;
  }
}

bool frame_reader::show_headers(std::string_view payload, frame& into) noexcept {
  if (head_.has(NGHTTP2_FLAG_PADDED)) {
    if (payload.empty()) return fail(NGHTTP2_PROTOCOL_ERROR);
    const std::size_t filled = static_cast<unsigned char>(payload[0]);
    payload.remove_prefix(1);
    if (filled > payload.size()) return fail(NGHTTP2_PROTOCOL_ERROR);
    payload.remove_suffix(filled);
  }
  if (head_.has(NGHTTP2_FLAG_PRIORITY)) {
    if (payload.size() < priority_bytes) return fail(NGHTTP2_FRAME_SIZE_ERROR);
    if (depends_on_itself(payload.data(), head_.stream)) return fail(NGHTTP2_PROTOCOL_ERROR);
    payload.remove_prefix(priority_bytes);
  }
  into.payload = payload;
  continuations_ = 0;
  if (!head_.has(NGHTTP2_FLAG_END_HEADERS)) fields_of_ = head_.stream;
  return true;
}

}  // namespace weft::http::http2
