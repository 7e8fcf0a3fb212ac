// The frames that a client sends, one after the other, and what is wrong with their form.
//
// Problem: whatever stands in a frame's head or is missing in its payload is to be told by the code
// that RFC 9113 gives it, before anybody acts on it, and however the bytes are cut. Contract:
// next() is given the input as it comes, in pieces of any size, and takes frames from it; each is
// whole and has the form that its type asks for, except that DATA comes in pieces as it is received
// and that of a frame of a type that is not known, and of the end of GOAWAY, nothing is shown. The
// preface comes first, then SETTINGS; between HEADERS and the end of its fields only their
// CONTINUATION frames may stand. Once wrong() is not NGHTTP2_NO_ERROR, that is the error of the
// connection and nothing more is read; ENHANCE_YOUR_CALM is for what has the form of a flood. What
// stands in a frame lives until the next call. Holds memory only for what a frame lacks. What
// frames mean to streams is for the session. One shard.
//
//   for (frame it; reader.next(bytes, it);) take(it);
//   if (reader.wrong() != NGHTTP2_NO_ERROR) terminate(reader.wrong());
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/http2/frame.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/http2/pooled_text.hpp>

namespace weft::http::http2 {

struct frame : frame_head {
  std::string_view payload{};  // without padding, and of HEADERS without its priority
  /// Of DATA: whether this is its first piece, and its last.
  bool begins = true;
  bool ends = true;
  /// Of DATA: what fills it up, the length of that included.
  std::uint32_t padding_bytes = 0;
};

class frame_reader {
 public:
  /// More of them after one HEADERS are sent to harm; so are more settings in a frame.
  static constexpr unsigned continuations_most = 8;
  static constexpr std::uint32_t settings_most_bytes = 32 * 6;

  /// Takes from `rest`. False: more must come first, or something is wrong().
  [[nodiscard]] bool next(std::string_view& rest, frame& into);
  [[nodiscard]] std::uint32_t wrong() const noexcept { return wrong_; }
  /// Whether some of a header section has come, and not all of it.
  [[nodiscard]] bool is_within_fields() const noexcept {
    return fields_of_ != 0 || (state_ == state::payload && head_.type == NGHTTP2_HEADERS);
  }

 private:
  enum class state : std::uint8_t { preface, head, payload, data, passing };

  [[nodiscard]] bool take_preface(std::string_view& rest) noexcept;
  [[nodiscard]] bool take_head(std::string_view& rest) noexcept;
  [[nodiscard]] bool take_payload(std::string_view& rest, frame& into);
  [[nodiscard]] bool take_data(std::string_view& rest, frame& into) noexcept;
  /// What must come before the frame is shown.
  [[nodiscard]] std::uint32_t shown_bytes() const noexcept;
  [[nodiscard]] bool show(std::string_view payload, frame& into) noexcept;
  [[nodiscard]] bool show_headers(std::string_view payload, frame& into) noexcept;
  [[nodiscard]] bool begin_data(std::string_view padding) noexcept;
  /// By the head alone.
  [[nodiscard]] std::uint32_t fault_of_head() const noexcept;
  [[nodiscard]] std::uint32_t fault_of_order() const noexcept;
  [[nodiscard]] std::uint32_t fault_of_length() const noexcept;
  bool fail(std::uint32_t code) noexcept {
    wrong_ = code;
    return false;
  }

  frame_head head_;
  pooled_text come_;        // of the payload, while the rest is awaited
  pooled_text shown_;       // what was shown from memory of its own
  std::uint32_t left_ = 0;  // of the payload: to be shown as data, or to be passed over
  std::uint32_t padding_bytes_ = 0;
  std::uint32_t wrong_ = NGHTTP2_NO_ERROR;
  std::int32_t fields_of_ = 0;  // the stream whose header section goes on
  unsigned continuations_ = 0;  // of it
  std::uint8_t have_ = 0;       // of the preface, or of a head
  state state_ = state::preface;
  bool expects_settings_ = true;
  bool data_begins_ = false;
  char head_text_[frame_head::size_bytes]{};
};

}  // namespace weft::http::http2
