// A message that many WebSockets of a shard are sent: framed once, and compressed once for each way
// of compressing that they can share.
//
// Contract: internal to http. For servers, whose frames are not masked. `what` outlives it.
// deflated() gives nothing for what does not get shorter. One shard.
//
//   prepared_message news{{message_kind::text, text}};
//   stream.append(news.plain().share(loop.memory()));
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/websocket/deflate_parameters.hpp>
#include <weft/http/websocket/websocket_message.hpp>
#include <weft/loop/shared_text.hpp>

namespace weft::http::ws {

/// As it goes over the wire.
class prepared_frame {
 public:
  prepared_frame() noexcept = default;
  explicit prepared_frame(std::string text) noexcept : text_{std::move(text)} {}

  /// Until share().
  [[nodiscard]] std::string_view text() const noexcept {
    return shared_.empty() ? std::string_view{text_} : shared_.view();
  }
  /// For connections that have to keep it: counted once, by `counted_by`.
  [[nodiscard]] const shared_text& share(memory_share& counted_by) {
    if (shared_.empty()) shared_ = shared_text{std::exchange(text_, {}), &counted_by};
    return shared_;
  }

 private:
  std::string text_;  // until it is shared
  shared_text shared_;
};

class prepared_message {
 public:
  explicit prepared_message(const websocket_message& what) noexcept : what_{what} {}

  [[nodiscard]] const websocket_message& what() const noexcept { return what_; }
  /// The frame.
  [[nodiscard]] prepared_frame& plain();
  /// The frame, compressed for a window of so many bits, by itself. Empty: no shorter.
  [[nodiscard]] prepared_frame& deflated(int window_bits);

 private:
  struct variant {
    prepared_frame frame;
    bool is_made = false;
  };
  static constexpr std::size_t windows =
      deflate_parameters::most_window_bits - deflate_parameters::least_window_bits + 1;

  websocket_message what_;
  prepared_frame plain_;
  std::array<variant, windows> deflated_;
};

}  // namespace weft::http::ws
